"""fairseq's commands, many of them for the price of importing fairseq once: end_to_end/forked.py forks each."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

FORKED = Path(__file__).with_name("forked.py")


class Outcome(NamedTuple):
    status: int
    output: str  # both streams


def run(jobs: Mapping[str, Sequence[object]], folder: Path, **environment: str) -> dict[str, Outcome]:
    """Each job: the words of a command, the first of them fairseq-train or the like."""
    logs = {name: folder / f"{number}.log" for number, name in enumerate(jobs)}
    words = [[list(map(str, jobs[name])), str(logs[name])] for name in jobs]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    subprocess.run(
        [sys.executable, FORKED],
        input=json.dumps(words),
        text=True,
        env=environment,
        check=True,
        timeout=max(300, 60 * len(jobs)),
    )
    return {name: _outcome(log.read_text()) for name, log in logs.items()}


def _outcome(text: str) -> Outcome:
    output, _, status = text.rstrip().rpartition("\nstatus ")
    return Outcome(int(status), output)
