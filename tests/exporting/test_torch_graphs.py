"""The exported folder translates by torch alone."""

import subprocess
import sys
from pathlib import Path

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
PARTS = ("--score-source", "random+dot", "--score-length", "256")  # a table too


def test_its_program_writes_what_ours_writes(tmp_path: Path, toy_corpus: Path) -> None:
    checkpoint = exportable.checkpoint(tmp_path / "ours.pt", toy_corpus, "realformer_tiny", *PARTS, margin=0.4)
    words = ["export", str(checkpoint), "--to", "torch", "--data", str(toy_corpus), "--subwords", "none"]
    assert subcommands.main([*words, "--output", str(tmp_path / "made")]) == 0
    sentences = (toy_corpus.parent / "test.src").read_text().splitlines()
    lines = ["", "a word unknown", "a word\r unknown\u2028here", *sentences[:4]]
    program = [sys.executable, "-c", ALONE, str(tmp_path / "made" / "translate.py")]
    text = "\ufeff" + "".join(f"{line}\n" for line in lines)
    done = subprocess.run(program, input=text, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    model = translator.load(checkpoint, data=toy_corpus, subwords="none", cpu=True)
    assert done.stdout.splitlines() == model.translate(lines, beam=1)
    assert len(set(done.stdout.splitlines())) > 3


def test_its_program_leaves_out_beginnings_and_names_a_line_that_is_not_utf8(tmp_path: Path, toy_corpus: Path) -> None:
    """<s> is left out of translations, as by ours, and U+FEFF of the first line alone."""
    checkpoint = exportable.checkpoint(tmp_path / "ours.pt", toy_corpus, "realformer_tiny", margin=0.4)
    exportable.prefer_beginnings(checkpoint, word=4)
    words = ["export", str(checkpoint), "--to", "torch", "--data", str(toy_corpus), "--subwords", "none"]
    assert subcommands.main([*words, "--output", str(tmp_path / "made")]) == 0
    lines = (toy_corpus.parent / "test.src").read_text().splitlines()[:2]
    lines.append(f"\ufeff{lines[0]}")
    text = ("\ufeff" + "".join(f"{line}\n" for line in lines)).encode() + "M\xe4rz\n".encode("latin-1")
    program = [sys.executable, str(tmp_path / "made" / "translate.py")]
    done = subprocess.run(program, input=text, capture_output=True, check=False)
    model = translator.load(checkpoint, data=toy_corpus, subwords="none", cpu=True)
    assert done.stdout.decode().splitlines() == model.translate(lines, beam=1)
    assert len(set(done.stdout.splitlines())) == 3
    assert done.returncode == 1
    assert done.stderr == b"standard input, line 4: not UTF-8; convert the text, for instance with iconv\n"
    keeping = torch_decoding.TorchTranslator(tmp_path / "made")
    keeping.config["bos"] = None
    assert any("<s>" in keeping.translate(line.split()) for line in lines)


def test_its_program_refuses_a_line_that_is_too_long(tmp_path: Path, toy_corpus: Path) -> None:
    """The graphs have one position less than the model, as docs/exporting.md says."""
    flags = ("--max-source-positions", "7", "--max-target-positions", "8")
    checkpoint = exportable.checkpoint(tmp_path / "ours.pt", toy_corpus, "realformer_tiny", *flags, margin=0.4)
    words = ["export", str(checkpoint), "--to", "torch", "--data", str(toy_corpus), "--subwords", "none"]
    assert subcommands.main([*words, "--output", str(tmp_path / "made")]) == 0
    program = [sys.executable, str(tmp_path / "made" / "translate.py")]
    text = "a b c d e\na b c d e f\n"
    done = subprocess.run(program, input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stdout.splitlines())) == (1, 1)
    assert done.stderr == "a line of 6 subwords is longer than the model's 5: split it into sentences\n"
