"""The comparison of comparisons.py, interrupted, started again, and a training of it killed."""

import contextlib
import io
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from grids import comparisons
from grids.comparisons import DONE
from programs import commands

from realformer_nmt.checkpoints.run_files import CURVES
from realformer_nmt.cli import main


def compare(root: Path, data: Path) -> None:
    """Fill the folder with grid.toml, runs/ and what was seen on the way, seen.json.

    The command is interrupted in its first trainings; then it runs in forks, and the process of a training is killed.
    """
    grid, folder = comparisons.write_grid(root, data), root / "runs"
    call = (grid, "--folder", folder, "--jobs", 2)
    first = comparisons.start(*call)
    wait_for(lambda: len(list(folder.glob("cells/*/checkpoints"))) == 2, lambda: first.poll() is not None)
    signal_all(folder, signal.SIGSTOP)  # so that no cell ends between this status and the interruption
    seen: dict[str, Any] = {"status": status(call)}
    first.send_signal(signal.SIGINT)
    signal_all(folder, signal.SIGCONT)
    seen |= {"interrupted": outcome(first), "processes": comparisons.processes_of(folder), "status_then": status(call)}
    argv = [*commands.OURS, "compare", *map(str, call), "--gpus", "0"]
    with ThreadPoolExecutor() as beside:
        second = beside.submit(commands.run, argv)
        wait_for((folder / "cells" / DONE[0] / CURVES).exists, second.done)
        os.kill(training(folder, f"{DONE[0]}/checkpoints"), signal.SIGKILL)
        done = second.result()
    seen["again"] = {"status": done.returncode, "out": done.stdout, "err": done.stderr}
    (root / "seen.json").write_text(json.dumps(seen))


def status(call: tuple[object, ...]) -> str:
    """Return what --status prints, from within this process: a cell has not long to run."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        assert main(["compare", *map(str, call), "--status"]) == 0
    return output.getvalue()


def signal_all(folder: Path, number: int) -> None:
    for pid in comparisons.processes_of(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def wait_for(happened: Callable[[], Any], has_ended: Callable[[], bool]) -> None:
    end = time.monotonic() + 150
    while not happened():
        assert not has_ended()
        assert time.monotonic() < end
        time.sleep(0.05)


def training(folder: Path, part: str) -> int:
    processes = comparisons.processes_of(folder)
    return next(pid for pid, argv in processes.items() if "fairseq_cli.train" in argv and part in argv)


def outcome(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=300)
    return {"status": process.returncode, "out": out, "err": err}
