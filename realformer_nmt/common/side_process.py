"""A function in a process beside this one, which ends when this one does."""

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

import torch


def begin(work: Callable[[], object], log: Path, threads: int, on_gpu: bool) -> BaseProcess:
    """What it says goes to `log`. Where it can be a fork it imports nothing again, which takes seconds: in one neither
    torch's threads live on, nor a GPU's driver, nor macOS's libraries."""
    forked = sys.platform == "linux" and threads == 1 and not on_gpu
    context = multiprocessing.get_context("fork") if forked else multiprocessing.get_context("spawn")
    process = context.Process(target=_run, args=(work, log, threads))
    process.start()
    return process


def _run(work: Callable[[], object], log: Path, threads: int) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(threads)
    with log.open("ab") as said, Path(os.devnull).open("r+b") as nothing:
        for stream, number in ((nothing, 0), (nothing, 1), (said, 2)):
            os.dup2(stream.fileno(), number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2))
    try:
        work()
    except Exception:
        sys.excepthook(*sys.exc_info())
        sys.exit(1)


def _end_with_parent() -> None:
    """However that ends; then nobody waits for what we make."""
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
    os._exit(1)
