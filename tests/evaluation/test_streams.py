"""`-` among a command's arguments."""

import argparse
import io
import os
import subprocess
import sys
from pathlib import Path

import commands
import pytest
from program import REPOSITORY

from realformer_nmt.evaluation.streams import streaming


def test_a_stream_is_kept_beside_its_record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """So that the record can name what was translated."""
    text = "Zwei Hunde\u2028rennen.\r\n".encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    given: list[argparse.Namespace] = []

    def run(args: argparse.Namespace) -> int:
        given.append(args)
        return 0

    assert streaming("out")(run)(argparse.Namespace(input=Path("-"), output=tmp_path, beam=3)) == 0
    (args,) = given
    assert (args.input.parent, args.output, args.beam) == (tmp_path, tmp_path, 3)
    assert args.input.read_bytes() == text


def test_a_closed_output_is_refused_before_anything_is_translated(tmp_path: Path) -> None:
    words = ["translate", tmp_path / "none.pt", "--data", tmp_path, "--subwords", "none", "--output", "-"]
    closing = ["bash", "-c", 'exec "$@" >&-', "bash", *commands.OURS, *map(str, words)]
    done = subprocess.run(closing, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "realformer-nmt: --output -: standard output is closed; leave it open, or name a folder\n"
