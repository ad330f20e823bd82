"""Parallel processes of one translation, each with its share of the batches and of the cores."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import torch
from msgspec import Struct
from tqdm import tqdm

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.files.folder_lock import locked
from realformer_nmt.common.files.records import Origin
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.common.processes.worker_process import WorkerProcess, begin
from realformer_nmt.common.stages import outputs
from realformer_nmt.common.stages.provenance import differences

SHARES = "shares"  # in the folder of the output, until all of them are there
NOTE, LOCK = "shares.json", ".lock"
SHARE = "share.json"  # of a finished job
THREADS = "OMP_NUM_THREADS"
POLL_INTERVAL = 0.2  # seconds
Work = Callable[[int, Path], object]  # a job, called with its number and the folder that it fills


class ShareNote(Struct, frozen=True, kw_only=True):
    """Origin of a translation that several jobs share, and their number."""

    made_from: Origin
    jobs: int


class Share(Struct, frozen=True, kw_only=True):
    """Finished share of a job."""

    files: dict[str, str]  # hash of each file, by its name


@contextlib.contextmanager
def shares(output: Path, origin: Origin, jobs: int, fresh: bool) -> Iterator[Path]:
    """Provide a folder for the jobs' folders.

    Those of several jobs outlast a killed run, for the next run of the same provenance and number of jobs.
    """
    folder = output / SHARES
    if jobs == 1:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)
    else:
        with locked(folder / LOCK, "translates into"):
            reusable = not fresh and _is_reusable(folder / NOTE, ShareNote(made_from=origin, jobs=jobs))
            for share in [entry for entry in folder.iterdir() if entry.is_dir()]:
                if not reusable or not share.name.isdecimal():
                    shutil.rmtree(share)
            records.write(folder / NOTE, ShareNote(made_from=origin, jobs=jobs))
            yield folder
    shutil.rmtree(folder, ignore_errors=True)


def check_shares(output: Path) -> None:
    """Raise an error if the output's folder `shares` is not one of jobs."""
    folder = output / SHARES
    if not any((folder / name).is_file() for name in (NOTE, LOCK)):
        outputs.check_free(folder, "translate")


def _is_reusable(note: Path, now: ShareNote) -> bool:
    try:
        before = records.read(note, ShareNote, "")
    except UserError:  # missing or corrupt
        return False
    same_versions = before.made_from.versions == now.made_from.versions
    return before.jobs == now.jobs and same_versions and not differences(before.made_from, now.made_from)


def fill(work: Work, jobs: int, folder: Path, sentences: int, file: str, on_gpu: bool = False) -> list[Path]:
    """Run the jobs whose folders are not complete, and return all folders.

    If a job fails, the others run to their end, and their folders stay. In `file` of a job's folder each translated
    sentence has a line that begins with H.
    """
    missing = [job for job in range(jobs) if not _is_complete(folder / str(job))]
    failed = {}
    with tempfile.TemporaryDirectory(dir=folder, prefix="unfinished-") as name, contextlib.ExitStack() as stack:
        folders = {job: Path(name, str(job)) for job in missing}
        logs = {job: Path(name, f"{job}.log") for job in missing}
        processes = {}
        for job, unfinished in folders.items():
            unfinished.mkdir()
            processes[job] = process = begin(partial(work, job, unfinished), logs[job], _threads(jobs), on_gpu)
            stack.callback(process.join)
            stack.callback(process.kill)  # runs before the join
        translated = _translated([unfinished / file for unfinished in folders.values()], stack)
        for job, status in _exit_codes(processes, translated, sentences):
            if status:
                failed[job] = status
            else:
                records.write(folders[job] / SHARE, Share(files=_hashes(folders[job])))
                shutil.rmtree(folder / str(job), ignore_errors=True)
                folders[job].rename(folder / str(job))
        for job, status in failed.items():
            raise UserError(_failure(status, logs[job], len(failed) < jobs))
    return [folder / str(job) for job in range(jobs)]


def _is_complete(share: Path) -> bool:
    """Return whether a job's folder is as its job left it; one that was changed since is translated again."""
    try:
        return records.read(share / SHARE, Share, "").files == _hashes(share)
    except UserError:
        return False


def _hashes(share: Path) -> dict[str, str]:
    return {path.name: sha256(path) for path in sorted(share.iterdir()) if path.is_file() and path.name != SHARE}


def _threads(jobs: int) -> int:
    """Return the threads of a job: its part of the cores, or torch's own number for a single job or if it is set."""
    if jobs == 1 or THREADS in os.environ:
        return torch.get_num_threads()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // jobs)


def _exit_codes(
    processes: Mapping[int, WorkerProcess], translated: Iterator[int], sentences: int
) -> Iterator[tuple[int, int]]:
    """Yield each job's number and exit status as soon as it ends; a progress bar shows the sentences on a terminal."""
    running = dict(processes)
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


def _failure(status: int, log: Path, resumable: bool) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines() or ["(no output)"]
    hint = "; what the other jobs translated is kept, and the same command resumes" if resumable else ""
    return f"fairseq-generate ended with status {status}: {lines[-1].removeprefix('fairseq-generate: ')}{hint}"
