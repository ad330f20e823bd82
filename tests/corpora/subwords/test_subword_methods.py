"""A third subword method is one row of the table and one file: here single characters, which nothing else knows of."""

import json
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name

from programs import commands

from realformer_nmt.corpora.subwords.subword_methods import METHODS, learnt

CHARACTERS = """
import sys
from pathlib import Path
from pkgutil import resolve_name

from realformer_nmt.corpora.subwords.subword_methods import METHODS, BleuFlags, SubwordMethod
from realformer_nmt.corpora.subwords.subwords import Surface


def learn(texts, folder, size, workers):
    letters = set("".join(block.source.decode() + block.target.decode() for block in texts.blocks())) - {" ", "\\n"}
    assert len(letters) < size
    (folder / "letters").write_text("".join(sorted(letters)), encoding="utf-8")


def encoder(folder):
    letters = {" ": "_"} | {letter: letter for letter in (folder / "letters").read_text(encoding="utf-8")}
    return lambda lines: [" ".join(letters.get(letter, "?") for letter in line) for line in lines]


def detokenise(lines, folder, language):
    return Surface(None, [line.replace(" ", "").replace("_", " ") for line in lines])


def main():
    METHODS["characters"] = SubwordMethod(
        learn="characters:learn",
        encoder="characters:encoder",
        detokenise="characters:detokenise",
        files=("letters",),
        vocabulary=100,
        counts="letters",
        bleu=BleuFlags("letter", "space"),
    )
    from realformer_nmt.cli import main
    from realformer_nmt.corpora import text_pipeline
    from realformer_nmt.protocols import command

    sys.executable, *words = sys.argv[1:]  # by which prepare starts fairseq-preprocess
    if main(words):
        return 1
    corpus = text_pipeline.read(Path("prepared"))
    pieces = corpus.pieces("Ein Ei? §\\n\\n".encode())
    print(pieces, corpus.surface(pieces).raw, command.validation(command.TrainedCorpus("", corpus.subwords))[-4:])


if __name__ == "__main__":
    sys.exit(main())
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return commands.run([sys.executable, "characters.py", commands.python_of_forks(), *words], folder=folder)


def test_a_third_method_needs_a_row_and_a_file(tmp_path: Path) -> None:
    (tmp_path / "characters.py").write_text(CHARACTERS, encoding="utf-8")
    lines = {"en": ["An egg? No.", "I am a"], "de": ["Ein Ei? Nein.", "Ich bin ein"]}
    for language, text in lines.items():
        (tmp_path / language).write_text("".join(f"{line}\n" for line in text), encoding="utf-8")
    pairs = [word for split in ("train", "valid", "test") for word in (f"--{split}", "en", "de")]
    options = ["--source", "en", "--target", "de", *pairs, "--folder", "prepared", "--workers", "1", "--keep"]
    prepared = run(tmp_path, "prepare", *options, "--subwords", "characters")
    assert prepared.returncode == 0, prepared.stderr
    flags = ["--eval-bleu-remove-bpe", "letter", "--eval-bleu-detok", "space"]
    expected = [["E i n _ E i ? _ ?", ""], ["Ein Ei? ?", ""], flags]
    assert prepared.stdout.splitlines()[-1] == " ".join(map(str, expected))
    by_hand = [" ".join(line.replace(" ", "_")) for line in lines["de"]]
    assert (tmp_path / "prepared/pieces/train.de").read_text(encoding="utf-8").splitlines() == by_hand
    assert (tmp_path / "prepared/subwords/letters").read_text(encoding="utf-8") == ".?AEINabceghimno"
    record = json.loads((tmp_path / "prepared/prepare.json").read_text(encoding="utf-8"))
    assert (record["subwords"], record["vocabulary"]) == ("characters", 100)
    assert (
        "sentencepiece: subwords (default: 32000); moses_bpe: merges; characters: letters (default: 100)"
        in " ".join(run(tmp_path, "prepare", "--help").stdout.split())
    )


def test_every_function_that_the_table_names_is_there() -> None:
    for method in METHODS.values():
        for name in filter(None, (method.learn, method.encoder, method.detokenise)):
            assert callable(resolve_name(name))


def test_the_table_imports_no_method() -> None:
    code = "import sys; import realformer_nmt.corpora.preparing.prepare_request; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "realformer_nmt.corpora.subwords.subword_methods" in modules
    assert not {"sentencepiece", "subword_nmt", "sacremoses", "torch", "fairseq"} & set(modules)


def test_all_that_is_learnt_leaves_files() -> None:
    assert all(METHODS[name].files for name in learnt())
