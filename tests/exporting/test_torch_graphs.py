"""The exported folder translates by torch alone."""

import subprocess
import sys
from pathlib import Path

import pytest
from fixture_types import Once
from tiny_models import exportable

from realformer_nmt import subcommands
from realformer_nmt.exporting import torch_decoding
from realformer_nmt.serving import translator

ALONE = """
import runpy, sys
for name in ("fairseq", "onnxruntime", "realformer_nmt"):
    sys.modules[name] = None
runpy.run_path(sys.argv[1], run_name="__main__")
"""
ROOM = ("--max-source-positions", "40")


@pytest.fixture(scope="module")
def folder(once: Once, toy_corpus: Path) -> Path:
    """A checkpoint that writes <s>, too, and what it was exported as, which takes half of a minute."""

    def export(folder: Path) -> None:
        checkpoint = exportable.checkpoint(folder / "ours.pt", toy_corpus, "realformer_tiny", *ROOM, margin=0.4)
        exportable.prefer_beginnings(checkpoint, word=4)
        words = ["export", str(checkpoint), "--to", "torch", "--data", str(toy_corpus), "--subwords", "none"]
        assert subcommands.main([*words, "--output", str(folder / "exported")]) == 0

    return once("torch_graphs", export)


def translate(folder: Path, text: bytes) -> subprocess.CompletedProcess[bytes]:
    program = [sys.executable, "-c", ALONE, str(folder / "exported" / "translate.py")]
    return subprocess.run(program, input=text, capture_output=True, cwd=folder, check=False)


def test_its_program_writes_what_ours_writes(folder: Path, toy_corpus: Path) -> None:
    """<s> is left out of translations, as by ours, and U+FEFF of the first line alone; bad bytes are named."""
    sentences = (toy_corpus.parent / "test.src").read_text().splitlines()[:4]
    lines = [sentences[0], "", "a word unknown", "a word\r unknown\u2028here", *sentences, f"\ufeff{sentences[0]}"]
    text = "\ufeff" + "".join(f"{line}\n" for line in lines)
    done = translate(folder, text.encode() + "M\xe4rz\n".encode("latin-1"))
    model = translator.load(folder / "ours.pt", data=toy_corpus, subwords="none", cpu=True)
    assert done.stdout.decode().splitlines() == model.translate(lines, beam=1)
    assert len(set(done.stdout.splitlines())) > 3
    assert done.returncode == 1
    assert done.stderr == b"standard input, line 10: not UTF-8; convert the text, for instance with iconv\n"
    keeping = torch_decoding.TorchTranslator(folder / "exported")
    keeping.config["bos"] = None
    assert any("<s>" in keeping.translate(line.split()) for line in lines)


def test_its_program_refuses_a_line_that_is_too_long(folder: Path) -> None:
    """The graphs have one position less than the model, as docs/exporting.md says."""
    done = translate(folder, b"a b c d e\n" + b"a " * 39 + b"\n")
    assert (done.returncode, len(done.stdout.splitlines())) == (1, 1)
    assert done.stderr == b"a line of 39 subwords is longer than the model's 38: split it into sentences\n"
