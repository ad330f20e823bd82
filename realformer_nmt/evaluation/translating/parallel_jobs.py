"""Parallel processes of one translation, each with its share of the batches and of the cores."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import torch
from tqdm import tqdm

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.processes.worker_process import WorkerProcess, begin

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
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // jobs)


def _exit_codes(
    processes: Sequence[WorkerProcess], translated: Iterator[int], sentences: int
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
