"""Parallel processes of one translation, each with its share of the batches and of the cores."""

import contextlib
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path

import torch
from tqdm import tqdm

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.processes.parent_death_signal import end_with_parent
from realformer_nmt.common.processes.unrepeated_script import unrepeated_script
from realformer_nmt.corpora.preparing.prepare_request import cores

THREADS = "OMP_NUM_THREADS"
POLL_INTERVAL = 0.2  # seconds
Work = Callable[[int, Path], object]  # a job, called with its number and the folder that it fills


def fill(work: Work, jobs: int, folder: Path, sentences: int, file: str, on_gpu: bool = False) -> list[Path]:
    """Run the jobs, and return the folder of each; if one fails, the others end too.

    In `file` of a job's folder each translated sentence has a line that begins with H.
    """
    folders = [folder / str(job) for job in range(jobs)]
    logs = [folder / f"{job}.log" for job in range(jobs)]
    with contextlib.ExitStack() as stack:
        processes = []
        for job in range(jobs):
            folders[job].mkdir()
            process = begin(partial(work, job, folders[job]), logs[job], _threads(jobs), on_gpu)
            stack.callback(process.join)
            stack.callback(process.kill)  # runs before the join
            processes.append(process)
        translated = _translated([share / file for share in folders], stack)
        for job, status in _exit_codes(processes, translated, sentences):
            if status:
                raise UserError(_failure(status, logs[job]))
    return folders


def _threads(jobs: int) -> int:
    """Return the threads of a job: its part of the cores, or torch's own number for a single job or if it is set."""
    if jobs == 1 or THREADS in os.environ:
        return torch.get_num_threads()
    return max(1, cores() // jobs)


def begin(work: Callable[[], object], log: Path, threads: int, on_gpu: bool) -> BaseProcess:
    """Start the function in another process, with its output appended to `log`.

    A fork is used where it is safe, because new imports take seconds. It is not safe with torch's threads, a GPU's
    driver or macOS's libraries: these do not survive a fork.
    """
    forks = sys.platform == "linux" and threads == 1 and not on_gpu
    kind = multiprocessing.get_context("fork").Process if forks else multiprocessing.get_context("spawn").Process
    process: BaseProcess = kind(target=_run, args=(work, log, threads))
    with unrepeated_script():
        process.start()
    return process


def _run(work: Callable[[], object], log: Path, threads: int) -> None:
    end_with_parent()
    torch.set_num_threads(threads)
    with log.open("ab") as output, Path(os.devnull).open("r+b") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)
        os.dup2(output.fileno(), 2)
    sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    try:
        work()
    except Exception:
        sys.excepthook(*sys.exc_info())  # which prints one line in fairseq-generate
        sys.exit(1)


def _exit_codes(
    processes: Sequence[BaseProcess], translated: Iterator[int], sentences: int
) -> Iterator[tuple[int, int]]:
    """Yield each job's number and exit status as soon as it ends; a progress bar shows the sentences on a terminal."""
    running = dict(enumerate(processes))
    with tqdm(total=sentences, unit=" sentences", disable=None) as bar:
        while running:
            next(iter(running.values())).join(POLL_INTERVAL)
            if not bar.disable:
                bar.update(next(translated))
            for job, process in list(running.items()):
                if process.exitcode is not None:
                    del running[job]
                    yield job, process.exitcode


def _translated(files: Iterable[Path], stack: contextlib.ExitStack) -> Iterator[int]:
    """Yield the number of sentences translated since the last time."""
    streams: dict[Path, Iterable[bytes]] = {}
    while True:
        created = [file for file in files if file not in streams and file.is_file()]
        streams |= {file: stack.enter_context(file.open("rb")) for file in created}
        yield sum(line.startswith(b"H-") for stream in streams.values() for line in stream)


def _failure(status: int, log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines() or ["(no output)"]
    return f"fairseq-generate ended with status {status}: {lines[-1].removeprefix('fairseq-generate: ')}"
