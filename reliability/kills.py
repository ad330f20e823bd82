"""kill -9 at random moments of a training, then the same command: in the end, the parameters of an undisturbed run."""

import re
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from reliability.trainings import Words, check, fairseq_train, kill, load, run, same, start, wait_for

SAVING = ("--save-interval-updates", "4", "--keep-interval-updates", "3", "--keep-last-epochs", "2")
CHECKPOINT = "checkpoint_last.pt"
KEPT = ("model", "last_optimizer_state")  # parameters and ADMIN's profile; RAdam's two moments
ATTEMPTS = 5
LOGGED = re.compile(r"num_updates=(\d+)")


def survive(
    data: Path, folder: Path, anywhere: int, while_writing: int, updates: int, seed: int = 1
) -> dict[str, object]:
    """Kills at random updates: some at a random instant, the others while a checkpoint is half written."""
    alone, killed = folder / "undisturbed", folder / "killed"
    train(data, alone, updates)
    chance = np.random.default_rng(seed)
    moments = sorted(chance.choice(np.arange(1, updates - 4), anywhere + while_writing, replace=False).tolist())
    kinds = chance.permutation([True] * while_writing + [False] * anywhere)
    log = folder / "killed.log"
    halves = 0
    for update, writing in zip(moments, kinds, strict=True):
        words = command(data, killed, updates)
        if writing:
            halves += cut(words, killed, log, update)
        else:
            strike(words, killed, log, update, chance)
    train(data, killed, updates)
    check(halves >= while_writing, f"{halves} of {while_writing} checkpoints were cut by a kill")
    agree(alone / CHECKPOINT, killed / CHECKPOINT, KEPT)
    figures = {"kills survived": len(moments), "of them amid the writing of a checkpoint": halves}
    return {**figures, "updates": updates, "seed": seed, "bits of parameters, profile and moments that differ": 0}


def command(data: Path, folder: Path, updates: int) -> Words:
    return fairseq_train(data, folder, *SAVING, "--max-update", updates)


def train(data: Path, folder: Path, updates: int) -> None:
    done = run(command(data, folder, updates))
    check(done.returncode == 0, done.stdout[-3000:])


def cut(words: Sequence[str], folder: Path, log: Path, update: int) -> int:
    """Kill a training until a checkpoint is half written: it may be complete before the signal arrives."""
    return next((halves for _ in range(ATTEMPTS) if (halves := strike(words, folder, log, update, None))), 0)


def strike(words: Sequence[str], folder: Path, log: Path, update: int, chance: np.random.Generator | None) -> int:
    """Kill a training and count its half-written checkpoints; without a random instant, wait for one."""
    written = set(parts(folder))
    for file in written:
        file.unlink()
    log.write_bytes(b"")
    process = start(words, log)
    wait_for(lambda: reached(log) >= update, process, log)
    if chance is None:
        wait_for(lambda: bool(parts(folder)), process, log, pause=0)
    else:
        time.sleep(chance.uniform(0, 0.05))
    kill(process)
    return len(parts(folder))


def parts(folder: Path) -> list[Path]:
    return list(folder.glob("*.part"))


def reached(log: Path) -> int:
    logged = LOGGED.findall(log.read_text(errors="replace"))
    return int(logged[-1]) if logged else 0


def agree(one: Path, other: Path, parts: Sequence[str]) -> None:
    first, second = load(one), load(other)
    for part in parts:
        check(same(first[part], second[part]), f"{part} of {other} is not that of {one}")
