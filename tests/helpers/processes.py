"""fairseq's commands as processes in a folder of their own."""

import os
import signal
import subprocess
from pathlib import Path

import commands
from reports import updates


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


def kill_after(process: subprocess.Popen[str], update: int) -> str:
    """What it has said by the time it logs an update as late as this one, and is killed."""
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line)
        if any(number >= update for number in updates(line)):
            break
    process.send_signal(signal.SIGKILL)
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL, "".join(lines)[-3000:]
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
