"""Processes that translate side by side, each with its share of the batches and of the cores."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import torch
from tqdm import tqdm

from realformer_nmt.common import outputs, sealed
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.folder_lock import alone
from realformer_nmt.common.provenance import MADE_FROM, Record, differences
from realformer_nmt.common.side_process import SideProcess, begin
from realformer_nmt.common.text_lines import sha256

SHARES = "shares"  # in the folder of the output, until all of them are there
NOTE, LOCK = "shares.json", ".lock"
JOBS = "jobs"
SHARE, FILES = "share.json", "files"  # of a job that has ended
THREADS = "OMP_NUM_THREADS"
ASKED_EVERY = 0.2  # seconds
Work = Callable[[int, Path], object]  # of a job, by its number and the folder that it fills


@contextlib.contextmanager
def shares(output: Path, made: Record, jobs: int, anew: bool) -> Iterator[Path]:
    """A folder for the jobs' folders. Those of several jobs are kept, if a run is killed, for the next that makes the
    same from the same in as many jobs."""
    folder = output / SHARES
    if jobs == 1:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)
    else:
        with alone(folder / LOCK, "translates into"):
            fresh = anew or not _fit(folder / NOTE, made, jobs)
            for left in [entry for entry in folder.iterdir() if entry.is_dir()]:
                if fresh or not left.name.isdecimal():
                    shutil.rmtree(left)
            sealed.write(folder / NOTE, {MADE_FROM: made, JOBS: jobs})
            yield folder
    shutil.rmtree(folder, ignore_errors=True)


def check_shares(output: Path) -> None:
    """Refuse a folder of their name that is not of jobs."""
    folder = output / SHARES
    if not any((folder / name).is_file() for name in (NOTE, LOCK)):
        outputs.check_free(folder, "translate")


def _fit(note: Path, made: Record, jobs: int) -> bool:
    try:
        before = sealed.read(note, "", {MADE_FROM: dict, JOBS: int})
    except UserError:  # there is none, or it was damaged
        return False
    known = before[MADE_FROM]
    return before[JOBS] == jobs and known["versions"] == made["versions"] and not differences(known, made)


def fill(work: Work, jobs: int, folder: Path, sentences: int, file: str, on_gpu: bool = False) -> list[Path]:
    """Each job's folder, when all are whole. If a job fails, the others go on to their end, and what they do is kept.
    In `file` of a job's folder a line that begins with H stands for each sentence that is translated."""
    missing = [job for job in range(jobs) if not _is_whole(folder / str(job))]
    failed = {}
    with tempfile.TemporaryDirectory(dir=folder, prefix="unfinished-") as name, contextlib.ExitStack() as stack:
        places = {job: Path(name, str(job)) for job in missing}
        logs = {job: Path(name, f"{job}.log") for job in missing}
        processes = {}
        for job, place in places.items():
            place.mkdir()
            processes[job] = process = begin(partial(work, job, place), logs[job], _threads(jobs), on_gpu)
            stack.callback(process.join)
            stack.callback(process.kill)  # before it is waited for
        watched = _translated([place / file for place in places.values()], stack)
        for job, status in _ended(processes, watched, sentences):
            if status:
                failed[job] = status
            else:
                sealed.write(places[job] / SHARE, {FILES: _hashes(places[job])})
                shutil.rmtree(folder / str(job), ignore_errors=True)
                places[job].rename(folder / str(job))
        for job, status in failed.items():
            raise UserError(_failure(status, logs[job], len(failed) < jobs))
    return [folder / str(job) for job in range(jobs)]


def _is_whole(share: Path) -> bool:
    """As it was when its job ended: whatever a power cut or a hand has made of it is translated again."""
    try:
        return sealed.read(share / SHARE, "", {FILES: dict})[FILES] == _hashes(share)
    except UserError:
        return False


def _hashes(share: Path) -> dict[str, str]:
    return {path.name: sha256(path) for path in sorted(share.iterdir()) if path.is_file() and path.name != SHARE}


def _threads(jobs: int) -> int:
    """Of each of several jobs, unless the user has said how many; one alone takes what torch takes."""
    if jobs == 1 or THREADS in os.environ:
        return torch.get_num_threads()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // jobs)


def _ended(
    processes: Mapping[int, SideProcess], translated: Iterator[int], sentences: int
) -> Iterator[tuple[int, int]]:
    """Each with its status as soon as it ends. A bar shows the sentences, where someone watches."""
    running = dict(processes)
    with tqdm(total=sentences, unit=" sentences", disable=None) as bar:
        while running:
            next(iter(running.values())).join(ASKED_EVERY)
            if not bar.disable:
                bar.update(next(translated))
            for job, process in list(running.items()):
                if process.exitcode is not None:
                    del running[job]
                    yield job, process.exitcode


def _translated(files: Iterable[Path], stack: contextlib.ExitStack) -> Iterator[int]:
    """Sentences since it was asked before."""
    streams: dict[Path, Iterable[bytes]] = {}
    while True:
        there = [file for file in files if file not in streams and file.is_file()]
        streams |= {file: stack.enter_context(file.open("rb")) for file in there}
        yield sum(line.startswith(b"H-") for stream in streams.values() for line in stream)


def _failure(status: int, log: Path, kept: bool) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines() or ["it said nothing"]
    others = "; what the other jobs translated is kept, and the same command goes on" if kept else ""
    return f"fairseq-generate ended with status {status}: {lines[-1]}{others}"
