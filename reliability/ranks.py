"""Trainings on several ranks of one machine: the parameters of one rank, on all of them; and a rank that dies."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from reliability import kills
from reliability.trainings import (
    REPOSITORY,
    Words,
    check,
    descendants,
    difference,
    fairseq_train,
    kill,
    run,
    start,
    torchrun,
    wait_for,
)
from reliability.trainings import updates as trained

WITNESS = str(REPOSITORY / "reliability" / "witness")
ROUNDING = 1e-4
PATIENCE = 60.0  # seconds that a job may take to end once a rank has died
LAST = "checkpoint_last.pt"
Launch = Callable[[int, Words], Words]
LAUNCHERS: dict[str, Launch] = {
    "torchrun": torchrun,
    "spawn": lambda ranks, command: [*command, "--distributed-world-size", str(ranks)],
}


def training(data: Path, folder: Path, ranks: int, updates: int, share: int = 1, launcher: str = "torchrun") -> Words:
    """Whose ranks each leave their parameters; the same tokens an update as one rank with share x ranks."""
    words = fairseq_train(data, folder, "--dropout", 0, "--max-update", updates, "--update-freq", share)
    words[words.index("--user-dir") + 1] = WITNESS
    words += ["--save-interval-updates", "4", "--total-num-update", "60", "--cpu"]
    return LAUNCHERS[launcher](ranks, words) if ranks > 1 else words


def alone(data: Path, folder: Path, ranks: int, updates: int) -> Path:
    """The same tokens an update on one rank."""
    done = run(training(data, folder, 1, updates, share=ranks))
    check(done.returncode == 0, done.stdout[-3000:])
    return folder / LAST


def together(data: Path, folder: Path, ranks: int, updates: int, launcher: str, one: Path) -> float:
    """An epoch has 45 batches, so that ranks get uneven numbers of them. How far it is from one rank, rounded."""
    done = run(training(data, folder, ranks, updates, launcher=launcher))
    check(done.returncode == 0, done.stdout[-3000:])
    check(done.stdout.count("done training") == 1, "not one run")
    agree(folder, ranks)
    check(trained(folder / LAST) == updates, f"{trained(folder / LAST)} updates instead of {updates}")
    distance = difference(folder / LAST, one)
    check(distance < ROUNDING, f"{ranks} ranks of {launcher} are {distance} from one rank")
    return distance


def agree(folder: Path, ranks: int) -> None:
    """All parameters, shortcuts' w among them, alike on all ranks to the bit."""
    files = sorted(folder.glob(f"rank*of{ranks}.pt"))
    check(len(files) == ranks, f"{len(files)} ranks of {ranks}")
    for other in files[1:]:
        check(difference(files[0], other) == 0, f"{other} differs from {files[0]}")


def lose_one(data: Path, folder: Path, ranks: int, updates: int, launcher: str, undisturbed: Path) -> float:
    """Lose a rank as outlive_one does, and check that the same command then ends where it would have."""
    took = outlive_one(data, folder, ranks, updates, launcher)
    done = run(training(data, folder, ranks, updates, launcher=launcher))
    check(done.returncode == 0 and "Loaded checkpoint" in done.stdout, done.stdout[-3000:])
    kills.agree(undisturbed, folder / LAST, kills.KEPT)
    return took


def outlive_one(data: Path, folder: Path, ranks: int, updates: int, launcher: str) -> float:
    """Seconds from the death of a rank to the end of the job, which says that it failed."""
    words = training(data, folder, ranks, updates, launcher=launcher)
    log = folder.with_suffix(".log")
    process = start(words, log)
    wait_for(lambda: kills.reached(log) >= updates // 2, process, log)
    os.kill(workers(process.pid)[-1], signal.SIGKILL)
    died = time.monotonic()
    try:
        status = process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        status = 0
    took = time.monotonic() - died
    kill(process)
    check(status != 0, f"{launcher}: a rank died, and the job goes on")
    return round(took, 1)


def lose_launcher(data: Path, folder: Path, ranks: int, updates: int, launcher: str) -> float:
    """Seconds from the death of the launcher to that of its last rank: none may go on beside the next run's."""
    log = folder.with_suffix(".log")
    process = start(training(data, folder, ranks, updates, launcher=launcher), log)
    wait_for(lambda: kills.reached(log) >= 2, process, log)
    family = workers(process.pid)
    process.kill()
    died = time.monotonic()
    while any(map(lives, family)) and time.monotonic() < died + PATIENCE:
        time.sleep(0.05)
    took = time.monotonic() - died
    survivors = sum(map(lives, family))
    kill(process)
    check(survivors == 0, f"{launcher}: {survivors} ranks outlive it")
    return round(took, 1)


def elastic(data: Path, folder: Path, ranks: tuple[int, ...], one: Path) -> float:
    """Saved on so many ranks, gone on with on fewer, with as many tokens an update; ends amid an epoch every time."""
    most, each = ranks[0], trained(one) // len(ranks)
    for place, number in enumerate(ranks):
        done = run(training(data, folder, number, each * (place + 1), share=most // number))
        check(done.returncode == 0, done.stdout[-3000:])
        if place:
            message = f"of {ranks[place - 1]} ranks, this run of {number}: 0 batches are seen again"
            check(message in done.stdout, done.stdout[-3000:])
    distance = difference(folder / LAST, one)
    check(distance < ROUNDING, f"{ranks} ranks one after the other are {distance} from one rank")
    return distance


def workers(launcher: int) -> list[int]:
    """The processes of its ranks."""
    return [number for number in descendants(launcher) if re.search(r"fairseq_cli|spawn_main", command(number))]


def command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False
