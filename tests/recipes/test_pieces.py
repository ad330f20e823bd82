"""The script that cuts the text for BERT: a second run keeps the pieces, or refuses another text or vocabulary."""

import subprocess
import sys
from pathlib import Path

import sentencepiece
from programs.program import REPOSITORY
from recipe_scripts.recipe_runs import environment


def cut(folder: Path, vocabulary: int) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, REPOSITORY / "recipes" / "bert" / "pieces.py", folder / "text", folder / "pieces"]
    return subprocess.run([*words, str(vocabulary)], env=environment(), capture_output=True, text=True, check=False)


def test_two_runs_learn_the_same_of_a_text_that_is_too_long_to_learn_all(tmp_path: Path) -> None:
    """A copy of the script learns from 200 of 2,000 different lines, as the script does from a million."""
    script = (REPOSITORY / "recipes" / "bert" / "pieces.py").read_text()
    (tmp_path / "few.py").write_text(script.replace("LINES = 1_000_000", "LINES = 200"))
    (tmp_path / "text").mkdir()
    for split in ("train", "valid", "test"):
        lines = (f"{number:03x} {number * 7919 % 4093:03x}\n" for number in range(2000))
        (tmp_path / "text" / f"{split}.txt").write_text("".join(lines))
    for name in ("first", "second"):
        words = [sys.executable, tmp_path / "few.py", tmp_path / "text", tmp_path / name, "30"]
        subprocess.run(words, env=environment(), capture_output=True, check=True)
    first, second = (
        sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / name / "sentencepiece.model"))
        for name in ("first", "second")
    )
    assert [first.id_to_piece(number) for number in range(30)] == [second.id_to_piece(number) for number in range(30)]


def test_pieces_of_another_vocabulary_or_text_are_refused(tmp_path: Path) -> None:
    texts = [tmp_path / "text" / f"{split}.txt" for split in ("train", "valid", "test")]
    texts[0].parent.mkdir()
    texts[0].write_text("a dog runs\nthe cat sees a dog\n" * 9)
    assert cut(tmp_path, 17).stderr == f"{texts[1]}, {texts[2]}: no such file; put the text there\n"
    for path in texts[1:]:
        path.write_text("a dog sees\n")
    assert cut(tmp_path, 17).returncode == 0
    pieces = {path.name: path.read_bytes() for path in (tmp_path / "pieces").iterdir()}
    model = sentencepiece.SentencePieceProcessor(model_proto=pieces["sentencepiece.model"])
    assert model.get_piece_size() == 17
    refusal = f"{tmp_path / 'pieces'} was made with other settings or files: "
    remedy = f"; remove {tmp_path / 'pieces'} and the data-bin made from it, or name another folder\n"
    assert cut(tmp_path, 16).stderr == f"{refusal}VOCABULARY was 17, is now 16{remedy}"
    texts[1].write_text("a cat\n")
    done = cut(tmp_path, 17)
    assert (done.returncode, done.stderr) == (1, f"{refusal}valid.txt is another file{remedy}")
    texts[1].unlink()
    assert cut(tmp_path, 17).returncode == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "pieces").iterdir()} == pieces
