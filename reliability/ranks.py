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
RANKS = 2
ROUNDING = 1e-4
SILENCE = 15  # seconds without an update, after which a rank gives up
PATIENCE = 120.0  # seconds that a job may take to end once a rank has died
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


def alone(data: Path, folder: Path, updates: int) -> Path:
    """Train on one rank with the tokens per update of two."""
    done = run(training(data, folder, 1, updates, share=RANKS))
    check(done.returncode == 0, done.stdout[-3000:])
    return folder / LAST


def together(data: Path, folder: Path, updates: int, launcher: str, one: Path) -> float:
    """Train on two ranks, which get uneven numbers of an epoch's 45 batches; return the difference from one rank."""
    done = run(training(data, folder, RANKS, updates, launcher=launcher))
    check(done.returncode == 0, done.stdout[-3000:])
    check(done.stdout.count("done training") == 1, "not one run")
    agree(folder)
    check(trained(folder / LAST) == updates, f"{trained(folder / LAST)} updates instead of {updates}")
    distance = difference(folder / LAST, one)
    check(distance < ROUNDING, f"the ranks of {launcher} are {distance} from one rank")
    return distance


def agree(folder: Path) -> None:
    """Check that all parameters, shortcuts' w among them, are the same on both ranks to the bit."""
    files = sorted(folder.glob(f"rank*of{RANKS}.pt"))
    check(len(files) == RANKS, f"{len(files)} ranks of {RANKS}")
    check(difference(*files) == 0, f"{files[0]} differs from {files[1]}")


def lose_one(data: Path, folder: Path, updates: int, launcher: str, undisturbed: Path) -> float:
    """Lose a rank as outlive_one does, and check that the same command then ends where it would have."""
    took = outlive_one(data, folder, updates, launcher)
    done = run(training(data, folder, RANKS, updates, launcher=launcher))
    check(done.returncode == 0 and "Loaded checkpoint" in done.stdout, done.stdout[-3000:])
    kills.agree(undisturbed, folder / LAST, kills.KEPT)
    return took


def outlive_one(data: Path, folder: Path, updates: int, launcher: str) -> float:
    """Return the seconds from the death of a rank to the end of the job, which says that it failed."""
    return strike_one(training(data, folder, RANKS, updates, launcher=launcher), folder, updates, signal.SIGKILL)


def outlive_silence(data: Path, folder: Path, updates: int) -> float:
    """Stop a rank, which is then as silent as a lost machine; return the seconds to the end of the job."""
    words = [*training(data, folder, RANKS, updates), "--heartbeat-timeout", str(SILENCE)]
    return strike_one(words, folder, updates, signal.SIGSTOP)


def strike_one(words: Words, folder: Path, updates: int, number: signal.Signals) -> float:
    """Send a signal to a rank of a training, and return the seconds until the whole job has failed."""
    log = folder.with_suffix(".log")
    process = start(words, log)
    wait_for(lambda: kills.reached(log) >= updates // 2, process, log)
    os.kill(workers(process.pid)[-1], number)
    begun = time.monotonic()
    try:
        status = process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        status = 0
    took = time.monotonic() - begun
    kill(process)
    check(status != 0, f"a rank got {number.name}, and the job goes on: {words}")
    return round(took, 1)


def lose_launcher(data: Path, folder: Path, updates: int, launcher: str) -> float:
    """Seconds from the death of the launcher to that of its last rank: none may go on beside the next run's."""
    log = folder.with_suffix(".log")
    process = start(training(data, folder, RANKS, updates, launcher=launcher), log)
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


def elastic(data: Path, folder: Path, updates: int, one: Path) -> float:
    """Train half of the updates on two ranks and the rest on one, with as many tokens per update; each ends amid an
    epoch. Return the largest difference from one rank."""
    for ranks, until in ((RANKS, updates // 2), (1, updates)):
        done = run(training(data, folder, ranks, until, share=RANKS // ranks))
        check(done.returncode == 0, done.stdout[-3000:])
    check("of 2 ranks, this run of 1: 0 batches are seen again" in done.stdout, done.stdout[-3000:])
    distance = difference(folder / LAST, one)
    check(distance < ROUNDING, f"two ranks, then one, are {distance} from one rank")
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
