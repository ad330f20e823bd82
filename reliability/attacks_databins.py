"""Data-bins that are damaged, wrong or hostile: each ends in one line that names the file, or is what was prepared."""

import copy
import functools
import json
import shutil
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
from reliability.hostile_databins import SIDE, Hostile
from reliability.trainings import check

FILES = (f"{SIDE}.idx", f"{SIDE}.bin", "dict.src.txt")
Figures = dict[str, Any]


def attack(data: Path, folder: Path) -> Figures:
    """`data`: the data-bin of trainings.corpus."""
    return {
        "flips refused by hash": flip_prepared(data, folder / "prepared", 400),
        "flips without a hash": flip_bare(data, folder / "bare", 400),
        "indexes": refuse(hostile_databins.indexes(data, folder / "indexes")),
        "names": refuse(hostile_databins.names(data, folder / "names")),
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
