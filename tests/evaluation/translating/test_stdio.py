"""`-` among a command's arguments."""

import io
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from programs import commands
from programs.program import REPOSITORY

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
    assert streamed(run, request, "out") == 0
    assert requests == [replace(request, input=tmp_path / "input.txt")]
    assert (tmp_path / "input.txt").read_bytes() == text


def test_a_closed_output_is_refused_before_anything_is_translated(tmp_path: Path) -> None:
    words = ["translate", tmp_path / "none.pt", "--data", tmp_path, "--subwords", "none", "--output", "-"]
    closing = ["bash", "-c", 'exec "$@" >&-', "bash", *commands.OURS, *map(str, words)]
    done = subprocess.run(closing, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "realformer-nmt: --output -: standard output is closed; leave it open, or name a folder\n"
