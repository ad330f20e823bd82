"""The exported folder translates in a process that cannot import torch."""

import logging
import math
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from fixture_types import Once
from tiny_models import exportable

from realformer_nmt.common.errors import UserError
from realformer_nmt.exporting import onnx_decoding
from realformer_nmt.serving import translator

WITHOUT_TORCH = """
import runpy, sys
for name in ("torch", "fairseq", "realformer_nmt"):
    sys.modules[name] = None
runpy.run_path(sys.argv[1], run_name="__main__")
"""
LOG_2 = math.log(2)
SHORT = ("--max-source-positions", "9", "--max-target-positions", "40")


def test_its_program_writes_what_ours_writes(tmp_path: Path, toy_corpus: Path) -> None:
    """Scores are of a table here, and of queries and keys in the next test."""
    table = ("synthesizer_random_tiny", "--score-length", "64")
    checkpoint = exportable.checkpoint(tmp_path / "ours.pt", toy_corpus, *table, margin=0.4)
    folder = exportable.exported("onnx", checkpoint, toy_corpus, tmp_path / "exported")
    lines = (toy_corpus.parent / "test.src").read_text().splitlines()[:6]
    lines.append("a word\r unknown\u2028here")  # one line, with white space in it
    text = "\ufeff" + "".join(f"{line}\n" for line in ["", "a word unknown", *lines])
    program = folder / "translate.py"
    assert len(program.read_text().splitlines()) <= 67  # as docs/exporting.md says
    words = [sys.executable, "-c", WITHOUT_TORCH, str(program)]
    done = subprocess.run(words, input=text, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    model = translator.load(checkpoint, data=toy_corpus, subwords="none", cpu=True)
    assert done.stdout.splitlines() == model.translate(["", "a word unknown", *lines])


@pytest.fixture(scope="module")
def folder(once: Once, toy_corpus: Path) -> Path:
    """A checkpoint that writes <s>, too, and has room for eight subwords; what it was exported as."""

    def export(folder: Path) -> None:
        checkpoint = exportable.checkpoint(folder / "ours.pt", toy_corpus, "realformer_tiny", *SHORT, margin=0.4)
        exportable.prefer_beginnings(checkpoint, word=4)
        exportable.exported("onnx", checkpoint, toy_corpus, folder / "exported")

    return once("onnx_graphs", export)


def translate(folder: Path, text: bytes) -> subprocess.CompletedProcess[bytes]:
    program = [sys.executable, folder / "exported" / "translate.py"]
    return subprocess.run(program, input=text, capture_output=True, check=False)


def test_its_program_leaves_out_beginnings_as_ours_and_names_a_line_that_is_not_utf8(
    folder: Path, toy_corpus: Path
) -> None:
    """<s> is left out of translations, and U+FEFF of the first line alone."""
    sentences = (toy_corpus.parent / "test.src").read_text().splitlines()
    lines = [line for line in sentences if len(line.split()) < 7][:4]
    lines.append(f"\ufeff{lines[0]}")
    text = "\ufeff" + "".join(f"{line}\n" for line in lines)
    done = translate(folder, text.encode() + "M\xe4rz\n".encode("latin-1"))
    model = translator.load(folder / "ours.pt", data=toy_corpus, subwords="none", cpu=True)
    written = done.stdout.decode().splitlines()
    assert written == model.translate(lines)
    assert written[0] != written[-1]
    assert done.returncode == 1
    assert done.stderr == b"standard input, line 6: not UTF-8; convert the text, for instance with iconv\n"
    keeping = onnx_decoding.OnnxTranslator(folder / "exported")
    keeping.config["bos"] = None
    assert any("<s>" in keeping.translate(line.split()) for line in lines)


def test_its_program_refuses_a_line_that_ours_refuses(folder: Path, toy_corpus: Path) -> None:
    model = translator.load(folder / "ours.pt", data=toy_corpus, subwords="none", cpu=True)
    fits, long = "a b c d e f g h", "a b c d e f g h i"
    with pytest.raises(UserError, match="is longer than the model's 9: split it"):
        model.translate([long])
    done = translate(folder, f"{fits}\n{long}\n".encode())
    assert (done.returncode, done.stdout.decode().splitlines()) == (1, model.translate([fits]))
    assert done.stderr == b"a line of 9 subwords is longer than the model's 8: split it into sentences\n"


@pytest.fixture(scope="module")
def plain(once: Once, toy_corpus: Path) -> Path:
    """A checkpoint and its export."""

    def export(folder: Path) -> None:
        checkpoint = exportable.checkpoint(folder / "ours.pt", toy_corpus, "realformer_tiny", margin=0.2)
        exportable.exported("onnx", checkpoint, toy_corpus, folder / "exported")

    return once("onnx_plain", export)


@pytest.mark.parametrize("penalty", [0.0, 0.6, 2.0])
def test_its_beams_and_scores_are_ours(penalty: float, plain: Path, toy_corpus: Path) -> None:
    model = onnx_decoding.OnnxTranslator(plain / "exported")
    lines = (toy_corpus.parent / "test.src").read_text().splitlines()[:6]
    loaded = translator.load(plain / "ours.pt", data=toy_corpus, subwords="none", cpu=True)
    for line, expected in zip(lines, loaded.stream(lines, beam=4, nbest=4, lenpen=penalty, max_len_b=30), strict=True):
        numbers = [model.numbers[piece] for piece in line.split()]
        beams = model.search([*numbers, model.config["eos"]], 4, penalty, 30)
        pieces = [[model.config["target_words"][number] for number in each] for _, each in beams]
        assert pieces == [hypothesis.pieces for hypothesis in expected]
        scores = [hypothesis.score * LOG_2 for hypothesis in expected]
        assert [score for score, _ in beams] == pytest.approx(scores, abs=1e-3)


def test_in_int8_its_products_multiply_whole_numbers(
    plain: Path, tmp_path: Path, toy_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.root.manager, "disable", logging.INFO)
    int8 = exportable.exported("onnx", plain / "ours.pt", toy_corpus, tmp_path / "int8", "--precision", "int8")
    assert logging.root.manager.disable == logging.INFO  # a caller's own level stays
    folders = (plain / "exported", int8)
    kinds = [[node.op_type for node in onnx.load(folder / "step.onnx").graph.node] for folder in folders]
    assert ["MatMulInteger" in each for each in kinds] == [False, True]
    lines = (toy_corpus.parent / "test.src").read_text().splitlines()
    models = map(onnx_decoding.OnnxTranslator, folders)
    exact, rounded = ([each.translate(line.split(), 1, longest=10) for line in lines] for each in models)
    assert sum(map(list.__eq__, exact, rounded)) > 30
