"""A long training whose memory and open files are watched: neither grows."""

import os
import statistics
import time
from pathlib import Path

from reliability.kills import reached
from reliability.trainings import check, fairseq_train, kill, start

KEEPING = ("--keep-interval-updates", "1", "--no-epoch-checkpoints", "--keep-best-checkpoints", "1")
PAGE = os.sysconf("SC_PAGE_SIZE")
Sample = tuple[int, float, int]  # update, MiB, open files


def watch(data: Path, folder: Path, updates: int, settled: int, slack: float, every: int = 100) -> dict[str, object]:
    """Trains, and validates and saves every so many updates: once settled, its memory grows by less than the slack, in
    MiB, and no more files are open."""
    folder.mkdir(parents=True)
    log = folder / "log"
    intervals = ("--validate-interval-updates", every, "--save-interval-updates", every)
    words = fairseq_train(data, folder / "checkpoints", *intervals, *KEEPING, "--max-update", updates)
    words.remove("--disable-validation")
    process = start(words, log)
    samples: list[Sample] = []
    try:
        while process.poll() is None:
            samples.append((reached(log), *held(process.pid)))
            time.sleep(0.2)
    finally:
        kill(process)
    check(process.returncode == 0, log.read_text()[-3000:])
    return judged([sample for sample in samples if sample[0] >= settled], updates, slack)


def held(process: int) -> tuple[float, int]:
    """Resident memory and open files; nothing of a process that is just ending."""
    folder = Path(f"/proc/{process}")
    try:
        return int((folder / "statm").read_text().split()[1]) * PAGE / (1 << 20), len(list((folder / "fd").iterdir()))
    except (OSError, IndexError):
        return 0.0, 0


def judged(samples: list[Sample], updates: int, slack: float) -> dict[str, object]:
    """The first tenth of what was seen against the last: what comes and goes with a checkpoint does not count."""
    part = max(1, len(samples) // 10)
    alive = [sample for sample in samples if sample[2]]
    first, last = alive[:part], alive[-part:]
    before, after = (statistics.median(memory for _, memory, _ in tenth) for tenth in (first, last))
    files = [max(number for *_, number in tenth) for tenth in (first, last)]
    check(after - before <= slack, f"memory grew from {before:.1f} to {after:.1f} MiB")
    check(files[1] <= files[0], f"open files grew from {files[0]} to {files[1]}")
    figures = {"MiB": round(before, 1), "MiB at the end": round(after, 1)}
    figures |= {"open files": files[0], "open files at the end": files[1]}
    return {"updates": updates, "watched from update": first[0][0], "looks": len(alive), **figures}
