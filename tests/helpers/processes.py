"""fairseq's commands as processes in a folder of their own."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import commands


def start(arguments: list[str], folder: Path) -> subprocess.Popen[str]:
    """The executable itself, which a test may kill, in a folder; its two outputs as one."""
    return subprocess.Popen(
        arguments,
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    output = process.stdout.read()
    assert process.wait(timeout=300) == 0, output[-3000:]
    return output


def kill_after(arguments: list[str], folder: Path, reached: Callable[[str], bool]) -> str:
    """What a command has said when a line is reached, and it is killed."""
    reader, writer = os.pipe()
    lines = []
    with os.fdopen(reader) as output, commands.begun(arguments, folder, writer) as kill:
        os.close(writer)
        for line in output:
            lines.append(line)
            if reached(line):
                break
        assert kill() == -signal.SIGKILL, "".join(lines)[-3000:]
    return "".join(lines)


def said(arguments: list[str], folder: Path, text: str = "") -> str:
    """What a command says to the end, which is to be a success; its two outputs as one."""
    done = commands.run(arguments, folder=folder, text=text, together=True)
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


def run_all(jobs: dict[str, list[str]], folder: Path) -> dict[str, str]:
    """What each command says; all are to succeed."""
    return {name: said(arguments, folder) for name, arguments in jobs.items()}


def outcomes_of(jobs: dict[str, list[str]], folder: Path) -> dict[str, str]:
    """The same, and each may fail: the last line is its status."""
    done = {name: commands.run(arguments, folder=folder, together=True) for name, arguments in jobs.items()}
    return {name: f"{one.stdout}\nstatus {one.returncode}\n" for name, one in done.items()}
