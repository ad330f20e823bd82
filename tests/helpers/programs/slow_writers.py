"""Processes that have written, and wait for a line before they end."""

import subprocess
import sys
from pathlib import Path

from programs.program import REPOSITORY

FILE = """
import sys
from pathlib import Path
from realformer_nmt.common.files.atomic_files import completed
with completed(Path(sys.argv[1])) as stream:
    stream.write(sys.argv[2].encode())
    stream.flush()
    print("written", flush=True)
    input()
"""
FOLDER = """
import sys
from pathlib import Path
from realformer_nmt.common.files.atomic_files import completed_folder
with completed_folder(Path(sys.argv[1])) as folder:
    (folder / "file").write_text(sys.argv[2])
    print("written", flush=True)
    input()
"""


def writer(program: str, place: Path, text: str) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(place), text],
        env={"PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "written\n"
    return process
