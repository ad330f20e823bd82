"""A tiny corpus, the command that trains on it, and what a training leaves."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

REPOSITORY = Path(__file__).resolve().parents[1]
LETTERS = list("abcdefghij")
SENTENCES = {"train": 1200, "valid": 50, "test": 50}
LIMIT = 240.0  # seconds, after which a command is taken to hang
TINY = """
    --arch realformer_tiny --share-all-embeddings --dropout 0.1 --clip-norm 1 --max-tokens 200
    --optimizer radam --adam-betas (0.9,0.98) --lr 5e-3 --lr-scheduler linear --warmup-updates 20
    --criterion label_smoothed_cross_entropy_fused --label-smoothing 0.1 --update-epoch-batch-itr 1
    --num-workers 0 --seed 1 --log-format simple --log-interval 1 --disable-validation
"""
Words = list[str]


def corpus(folder: Path) -> Path:
    """Sentences of letters and the same backwards, as data-bin."""
    chance = np.random.default_rng(1)
    folder.mkdir(parents=True, exist_ok=True)
    for split, number in SENTENCES.items():
        sources = [chance.choice(LETTERS, chance.integers(3, 9)) for _ in range(number)]
        (folder / f"{split}.src").write_text("".join(" ".join(words) + "\n" for words in sources))
        (folder / f"{split}.tgt").write_text("".join(" ".join(words[::-1]) + "\n" for words in sources))
    texts = [word for split in SENTENCES for word in (f"--{split}pref", str(folder / split))]
    languages = ["--source-lang", "src", "--target-lang", "tgt", "--joined-dictionary"]
    done = run([*program("preprocess"), *languages, *texts, "--destdir", str(folder / "data-bin")])
    check(done.returncode == 0, done.stdout)
    return folder / "data-bin"


def program(name: str) -> Words:
    return [sys.executable, "-m", f"fairseq_cli.{name}"]


def fairseq_train(data: Path, folder: Path, *options: object) -> Words:
    """The plain command, without a launcher."""
    words = [str(data), "--user-dir", str(REPOSITORY / "realformer_nmt"), "--save-dir", str(folder)]
    return [*program("train"), *words, *TINY.split(), *map(str, options)]


def torchrun(ranks: int, command: Sequence[str]) -> Words:
    """Return the same command on so many processes of this machine."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    return [*launcher, *command[1:]]


def environment() -> dict[str, str]:
    """One thread a process, and this repository's plug-in."""
    path = os.pathsep.join(filter(None, (str(REPOSITORY), os.environ.get("PYTHONPATH", ""))))
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}


def run(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with both outputs as one."""
    return subprocess.run(
        words,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=LIMIT,
        check=False,
    )


def start(words: Sequence[str], log: Path) -> "subprocess.Popen[bytes]":
    """Start a command in a process group of its own, with both outputs added to a file."""
    with log.open("ab") as output:
        return subprocess.Popen(
            words,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def wait_for(happened: Callable[[], bool], process: "subprocess.Popen[bytes]", log: Path, pause: float = 0.005) -> None:
    end = time.monotonic() + LIMIT
    while not happened():
        check(process.poll() is None and time.monotonic() < end, log.read_text()[-3000:])
        time.sleep(pause)


def kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process with all that it has started; torchrun's processes are no longer of its group."""
    for number in (process.pid, *descendants(process.pid)):
        with contextlib.suppress(ProcessLookupError):  # it has ended
            os.kill(number, signal.SIGKILL)
    process.wait(LIMIT)


def descendants(process: int) -> list[int]:
    """Children and theirs, in the order in which they were started."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):  # it has ended, or is no process
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(") ")[2].split()[1])
    processes, new = [], [process]
    while new := [number for number, parent in parents.items() if parent in new]:
        processes += new
    return sorted(processes)


def load(checkpoint: Path) -> dict[str, Any]:
    """All of it."""
    from realformer_nmt.checkpoints.files import reading  # which imports fairseq

    return {**reading.load(checkpoint)}


def updates(checkpoint: Path) -> int:
    return int(load(checkpoint)["optimizer_history"][-1]["num_updates"])


def difference(one: Path, other: Path) -> float:
    """The largest between any two numbers of the two models."""
    first, second = load(one)["model"], load(other)["model"]
    check(first.keys() == second.keys(), f"{one} and {other} hold other models")
    return max(float((first[name].double() - second[name].double()).abs().max()) for name in first)


def same(one: Any, other: Any) -> bool:
    """Return whether two values are the same to the bit, all the way down."""
    if torch.is_tensor(one):
        return torch.is_tensor(other) and torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


class FailedError(Exception):
    """A promise that does not hold."""


def check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise FailedError(otherwise)
