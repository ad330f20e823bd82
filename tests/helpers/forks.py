"""Many of fairseq's commands, one after the other."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import commands


class Outcome(NamedTuple):
    status: int
    output: str  # both streams


def run(jobs: Mapping[str, Sequence[object]], folder: Path, **environment: str) -> dict[str, Outcome]:
    """Each job: the words of a command, the first of them fairseq-train or the like."""
    return {name: _outcome(words, folder, environment) for name, words in jobs.items()}


def _outcome(words: Sequence[object], folder: Path, environment: Mapping[str, str]) -> Outcome:
    program, *arguments = map(str, words)
    words = [str(commands.SCRIPTS / program), *arguments]
    done = commands.run(words, folder=folder, environment=environment, together=True)
    return Outcome(done.returncode, done.stdout.rstrip())
