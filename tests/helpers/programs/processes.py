"""Commands of fairseq's, run in a folder of their own, and their two outputs as one."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from programs import commands
from programs.program import REPOSITORY


def started(*words: object) -> tuple["subprocess.Popen[str]", str]:
    """Start a program of Python's, and return it with its first line; another line ends its wait."""
    environment, pipe = {"PYTHONPATH": str(REPOSITORY)}, subprocess.PIPE
    process = subprocess.Popen([sys.executable, *map(str, words)], env=environment, stdin=pipe, stdout=pipe, text=True)
    assert process.stdout
    return process, process.stdout.readline()


class Outcome(NamedTuple):
    status: int
    output: str


def said(arguments: list[str], folder: Path, text: str = "") -> str:
    """Run a command that is to succeed, and return all that it says."""
    done = commands.run(arguments, folder=folder, text=text, together=True)
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


def run_all(jobs: dict[str, list[str]], folder: Path) -> dict[str, str]:
    """Run commands that are to succeed, and return what each says."""
    return {name: said(arguments, folder) for name, arguments in jobs.items()}


def outcomes_of(jobs: Mapping[str, Sequence[object]], folder: Path, **environment: str) -> dict[str, Outcome]:
    """The same, and each may fail; the first word of a job may be fairseq-train alone, without its folder."""
    outcomes = {}
    for name, (program, *arguments) in jobs.items():
        words = [str(commands.SCRIPTS / str(program)), *map(str, arguments)]
        done = commands.run(words, folder=folder, environment=environment, together=True)
        outcomes[name] = Outcome(done.returncode, done.stdout.rstrip())
    return outcomes
