"""All mistaken commands and numbers: the suite runs one of each kind."""

import os
import re
import subprocess
import sys

from reliability.trainings import REPOSITORY, check

TABLES = {
    "mistaken commands of every kind": "tests/reliability/test_mistakes.py",
    "numbers of every option": "tests/reliability/test_number_options.py",
}


def refused() -> dict[str, int]:
    return {name: passed(file) for name, file in TABLES.items()}


def passed(file: str) -> int:
    """Each case of a table is a test: of what must be said, and of the status."""
    unhurried = ("-o", "timeout=7200")  # one fixture runs hundreds of commands
    command = [sys.executable, "-m", "pytest", "-o", "addopts=", *unhurried, "-q", file]
    environment = {**os.environ, "EVERY_MISTAKE": "1"}  # one of each kind otherwise
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)
    summary = done.stdout.strip().splitlines()[-1]
    match = re.search(r"(\d+) passed", summary)
    check(done.returncode == 0 and match is not None, f"{file}: {summary}")
    return int(match[1]) if match else 0
