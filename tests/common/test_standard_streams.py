"""Standard streams that are closed, full, or of a small alphabet, in processes of their own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from programs.program import REPOSITORY

PRINT = "try:\n    print('much', flush=True)\nexcept OSError:\n    pass\n"
STREAMS = (
    REPOSITORY / "realformer_nmt" / "common/standard_streams.py"
).read_text()  # alone: the package would bring fairseq


def run(program: str, **options: Any) -> "subprocess.CompletedProcess[bytes]":
    words = [sys.executable, "-c", f"{STREAMS}\nmake_usable()\n{program}"]
    return subprocess.run(words, **{"capture_output": True, **options}, timeout=60, check=False)


def test_a_closed_stream_gives_its_number_to_no_file(tmp_path: Path) -> None:
    program = f"file = open({str(tmp_path / 'file')!r}, 'w')\nprint('lost'); say('lost')\nassert file.fileno() > 2"
    closing = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "-", sys.executable, "-c", f"{STREAMS}\nmake_usable()\n{program}"]
    assert subprocess.run(closing, timeout=60, check=False).returncode == 0
    assert (tmp_path / "file").read_text() == ""


def test_what_an_encoding_lacks_is_escaped() -> None:
    done = run(r"print('M\xe4rz \u4e2d \udcff')", env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    assert (done.stdout, done.stderr) == ("März \\u4e2d \\udcff\n".encode("latin-1"), b"")


def test_a_full_disk_is_said_once() -> None:
    with Path("/dev/full").open("w") as full:
        done = run(f"{PRINT}say('no space')", stdout=full, stderr=subprocess.PIPE, capture_output=False)
    assert (done.returncode, done.stderr) == (0, b"no space\n")
