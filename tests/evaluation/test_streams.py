"""`-` among a command's arguments."""

import argparse
import io
import sys
from pathlib import Path

import pytest

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
