"""Data-bins that are damaged, wrong or hostile: each ends in one line that names the file, or is what was prepared."""

import copy
import functools
import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from fairseq import tasks
from msgspec import to_builtins

from realformer_nmt.common.errors import UserError
from realformer_nmt.data_bins import file_checks
from realformer_nmt.protocols.running import updates
from reliability import hostile_databins
from reliability.hostile_databins import SHELL, SIDE, Hostile
from reliability.trainings import REPOSITORY, check, fairseq_train, program, run

FILES = (f"{SIDE}.idx", f"{SIDE}.bin", "dict.src.txt")
Figures = dict[str, Any]


def attack(data: Path, folder: Path) -> Figures:
    """`data`: the data-bin of trainings.corpus."""
    return {
        "flips refused by hash": flip_prepared(data, folder / "prepared", 400),
        "flips without a hash": flip_bare(data, folder / "bare", 400),
        "indexes": refuse(hostile_databins.indexes(data, folder / "indexes")),
        "names": refuse(hostile_databins.names(data, folder / "names")),
        "commands": refuse_by_commands(data, folder / "commands"),
    }


@functools.cache
def options() -> Any:
    return updates.parse(["data", "--arch", "realformer_tiny", "--max-tokens", "100"]).task


def load(data: Path) -> Any:
    """The training data as fairseq-train loads it, without the seconds of its start."""
    cfg = copy.deepcopy(options())
    cfg.data = str(data)
    task = tasks.setup_task(cfg)
    task.load_dataset("train")
    return task.dataset("train")


def refusal(data: Path) -> str | None:
    """The one line in which it ended."""
    try:
        load(data)
    except UserError as error:
        return str(error)
    return None


def flips(data: Path, number: int) -> Iterator[tuple[Path, int]]:
    """The data-bin, a bit of which is another one; as many times."""
    chance = np.random.default_rng(1)
    for _ in range(number):
        file = data / chance.choice(FILES)
        whole = file.read_bytes()
        place = int(chance.integers(8 * len(whole)))
        changed = bytearray(whole)
        changed[place // 8] ^= 1 << place % 8
        file.write_bytes(changed)
        yield file, place
        file.write_bytes(whole)


def flip_prepared(data: Path, folder: Path, number: int) -> int:
    data_bin = prepare(data, folder)
    for file, place in flips(data_bin, number):
        line = refusal(data_bin)
        check(line is not None and str(file) in line, f"bit {place} of {file.name}: {line}")
    check(refusal(data_bin) is None, "what was prepared is refused")
    return number


def prepare(data: Path, folder: Path) -> Path:
    """A copy with what `realformer-nmt prepare` notes of it."""
    data_bin = Path(shutil.copytree(data, folder / "data-bin"))
    (folder / file_checks.NAME).write_text(
        json.dumps(to_builtins(file_checks.describe(folder, sorted(data_bin.iterdir()))))
    )
    return data_bin


def flip_bare(data: Path, folder: Path, number: int) -> Figures:
    """Nobody knows what the file was; but no sentence may lie, or hold words, out of bounds."""
    data_bin = Path(shutil.copytree(data, folder))
    silent = 0
    for file, place in flips(data_bin, number):
        try:
            dataset = load(data_bin)
        except UserError as error:
            check(str(data_bin) in str(error), f"bit {place} of {file.name}: {error}")
            continue
        silent += 1
        index, words = Path(f"{dataset.src._path}.idx"), len(dataset.src_dict)
        sizes, places = dataset.src.sizes, hostile_databins.read(index.with_suffix("")).places
        numbers = np.fromfile(index.with_suffix(".bin"), dataset.src._index.dtype)
        inside = sizes.min() > 0 and places.min() >= 0 and (places // 2 + sizes <= len(numbers)).all()
        check(bool(inside and numbers.max() < words), f"bit {place} of {file.name} is silent and out of bounds")
    return {"flips": number, "refused": number - silent, "within bounds": silent}


def refuse(cases: Iterable[Hostile]) -> int:
    tried = 0
    for case in cases:
        line = refusal(case.data)
        check(line is not None and case.file in line, f"{case.name}: {line}")
        tried += 1
    return tried


def refuse_by_commands(data: Path, folder: Path) -> int:
    """A .fasta whose name a shell would run, in a folder of such a name, given to every command that reads data."""
    folder.mkdir(parents=True)
    done = run(fairseq_train(data, folder / "run", "--max-update", 25, "--cpu"))
    check(done.returncode == 0, done.stdout)
    hostile = hostile_databins.rename(data, folder / "$(touch pwned)", SHELL)
    trained = ["--path", str(folder / "run" / "checkpoint_last.pt"), "--cpu"]
    user_dir = ["--user-dir", str(REPOSITORY / "realformer_nmt")]
    named = ["--task", "translation", "--max-tokens", "200"]  # without which fairseq-validate looks for no data
    cli = [sys.executable, "-m", "realformer_nmt.cli"]
    train = [*cli, "train", "--arch", "realformer", "--layers", "1", "--gpus", "0", "--folder", str(folder / "new")]
    commands = {
        "train": fairseq_train(hostile, folder / "other", "--max-update", 25, "--cpu"),
        "generate": [*program("generate"), str(hostile), *user_dir, *trained, "--gen-subset", "train"],
        "validate": [*program("validate"), str(hostile), *user_dir, *trained, *named, "--valid-subset", "train"],
        "interactive": [*program("interactive"), str(hostile), *user_dir, *trained],
        "updates": [*cli, "updates", str(hostile), "--max-tokens", "200", "--epochs", "1"],
        "realformer-nmt train": [*train, "--data", str(hostile)],
        "--dry-run": [*train, "--data", str(hostile), "--dry-run"],
    }
    for name, words in commands.items():
        done = run(words, cwd=folder)
        last = done.stdout.strip().splitlines()[-1:]
        check(done.returncode == 1 and SHELL in "".join(last), f"{name}: {done.stdout[-2000:]}")
        check(not list(folder.rglob("pwned")), f"{name} ran a command")
    return len(commands)
