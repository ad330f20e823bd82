"""fairseq's commands as processes in a folder of their own."""

import json
import os
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

from reports import updates


def command(name: str, *arguments: object) -> list[str]:
    return [str(Path(sysconfig.get_path("scripts"), f"fairseq-{name}")), *map(str, arguments)]


def start(arguments: list[str], folder: Path, text: str | None = None) -> subprocess.Popen[str]:
    """Start a command in a folder, its two outputs as one."""
    process = subprocess.Popen(
        arguments,
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE if text is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if text is not None and process.stdin:
        process.stdin.write(text)
        process.stdin.close()
    return process


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


def run_all(jobs: dict[str, list[str]], folder: Path) -> dict[str, str]:
    """What each command says; all are to succeed. They are forks of one process (forked.py)."""
    outcomes = outcomes_of(jobs, folder)
    for name, outcome in outcomes.items():
        assert outcome.endswith("status 0\n"), f"{name}: {outcome[-3000:]}"
    return outcomes


def outcomes_of(jobs: dict[str, list[str]], folder: Path) -> dict[str, str]:
    """The same, and each may fail."""
    logs = {name: folder / f"{name}.log" for name in jobs}
    todo = json.dumps([[arguments, str(logs[name])] for name, arguments in jobs.items()])
    finish(start([sys.executable, str(Path(__file__).with_name("forked.py"))], folder, todo))
    return {name: log.read_text() for name, log in logs.items()}
