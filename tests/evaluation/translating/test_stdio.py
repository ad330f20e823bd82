"""`-` among a command's arguments."""

import io
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from programs import argv, commands
from programs.program import REPOSITORY
from tiny_models import saved

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.text_lines import read_lines
from realformer_nmt.evaluation.translating import translation
from realformer_nmt.evaluation.translating.generation import Generated
from realformer_nmt.evaluation.translating.stdio import streamed
from realformer_nmt.evaluation.translating.translate import TranslateRequest


def test_a_stream_is_kept_beside_its_record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The record can then name what was translated."""
    text = "Zwei Hunde\u2028rennen.\r\n".encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    requests: list[TranslateRequest] = []

    def run(request: TranslateRequest) -> int:
        requests.append(request)
        return 0

    request = TranslateRequest(checkpoints=(), input=Path("-"), output=tmp_path, beam=3)
    assert streamed(run, lambda _: False, request, "out") == 0
    assert requests == [replace(request, input=tmp_path / "input.txt")]
    assert (tmp_path / "input.txt").read_bytes() == text


def test_another_text_replaces_the_stream_of_before_only_with_fresh(
    toy_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A text that is refused or fails leaves a folder in which the next call works."""
    out = tmp_path / "out"
    fixed = [saved.save(tmp_path / "a.pt", saved.state(toy_corpus)), "--data", toy_corpus, "--subwords", "none"]

    def copied(request: TranslateRequest, *_: object) -> Generated:
        lines = read_lines(request.input or Path())
        if lines == ["failing"]:
            raise UserError("no memory")
        return Generated(lines, None, lines)

    def texts(text: str, *flags: str) -> tuple[str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{text}\n".encode())))
        argv.read(TranslateRequest, *fixed, "--input", "-", "--output", out, *flags).run()
        return (out / "input.txt").read_text(), (out / "hypotheses.txt").read_text()

    monkeypatch.setattr(translation, "translate", copied)
    assert texts("a b") == ("a b\n", "a b\n")
    with pytest.raises(UserError, match=r"input is another file. Give another --output or --folder, or use --fresh"):
        texts("b a")
    assert texts("a b") == ("a b\n", "a b\n")
    assert capsys.readouterr().out.endswith("translation.json: up to date\n")
    assert texts("b a", "--fresh") == ("b a\n", "b a\n")
    for again in ("b a", "a b"):
        with pytest.raises(UserError, match="no memory"):
            texts("failing", "--fresh")
        assert texts(again) == (f"{again}\n", f"{again}\n")


def test_an_input_txt_of_the_users_own_is_not_written_over(
    toy_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "input.txt").write_text("own\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a b\n")))
    model = saved.save(tmp_path / "a.pt", saved.state(toy_corpus))
    words = ["--data", toy_corpus, "--subwords", "none", "--input", "-", "--output", tmp_path, "--fresh"]
    with pytest.raises(UserError, match=r"input\.txt exists, and nothing says"):
        argv.read(TranslateRequest, model, *words).run()
    assert (tmp_path / "input.txt").read_text() == "own\n"


def test_a_closed_output_is_refused_before_anything_is_translated(tmp_path: Path) -> None:
    words = ["translate", tmp_path / "none.pt", "--data", tmp_path, "--subwords", "none", "--output", "-"]
    closing = ["bash", "-c", 'exec "$@" >&-', "bash", *commands.OURS, *map(str, words)]
    done = subprocess.run(closing, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "realformer-nmt: --output -: standard output is closed; leave it open, or name a folder\n"
