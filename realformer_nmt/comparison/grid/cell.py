"""A cell of the grid: one training, where it lies, its stages from there to its scores, and when it has failed."""

import hashlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from realformer_nmt.common import checksummed_json, json_records, safe_names
from realformer_nmt.common.provenance import MADE_FROM
from realformer_nmt.common.stage_request import StageRequest
from realformer_nmt.comparison.grid import axes
from realformer_nmt.comparison.grid.axes import Point
from realformer_nmt.comparison.records import kinds
from realformer_nmt.comparison.records.kinds import absent_or, count, finite, text
from realformer_nmt.protocols.run_files import CHECKPOINTS
from realformer_nmt.protocols.tasks import TRANSLATION

SomeRequest = TypeVar("SomeRequest", bound=StageRequest)


@dataclass(frozen=True)
class Failure:
    """A model that has not left the unigram loss of its training data is stuck."""

    judged_after: int = 2000  # updates, or all of them if they are fewer
    margin: float = 0.5  # bits a token below the unigram entropy: as much as the first word and the last alone may give
    stop_early: bool = False

    def __post_init__(self) -> None:
        if self.judged_after < 1 or not 0 <= self.margin < math.inf:
            raise ValueError(
                f"failure: judged_after {self.judged_after}, margin {self.margin}: allowed are 1 update or more, and a "
                "finite number of bits, 0 or more"
            )


USUAL = Failure()


@dataclass(frozen=True)
class Stage:
    name: str
    request: StageRequest
    record: Path  # of what it was made from


class Named(NamedTuple):
    """What a grid calls a cell."""

    family: str
    layers: str
    seed: int
    point: Point = ()


@dataclass(frozen=True)
class Place:
    """Of a cell."""

    family: str
    layers: str
    seed: int
    folder: Path
    point: Point = field(default=(), kw_only=True)
    task: str = field(default=TRANSLATION, kw_only=True)

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def note(self) -> Path:
        """What became of it."""
        return self.folder / "cell.json"

    @property
    def lock(self) -> Path:
        return self.folder / ".cell-lock"

    @property
    def checkpoints(self) -> Path:
        return self.folder / CHECKPOINTS


@dataclass(frozen=True)
class Cell(Place):
    data: Path  # the data-bin, and its languages
    languages: tuple[str, ...]  # none of a text alone
    stages: tuple[Stage, ...]
    failure: Failure
    retries: int
    subset: str = "test"  # whose scores are read
    asked: str = ""  # digest of the grid that asks for it

    @property
    def scores(self) -> Path:
        return of_subset(self.folder, "run", self.subset, ".json")

    def requests(self, kind: type[SomeRequest]) -> list[SomeRequest]:
        """Return the requests of one kind among its stages."""
        return [stage.request for stage in self.stages if isinstance(stage.request, kind)]


def named(
    families: Sequence[str], layers: Sequence[str], seeds: Sequence[int], along: Mapping[str, Sequence[float]]
) -> Iterator[Named]:
    """The product of all, the seeds of one training beside each other."""
    points = [tuple(zip(along, values, strict=True)) for values in itertools.product(*along.values())]
    for family, depth, point, seed in itertools.product(families, layers, points, seeds):
        yield Named(family, depth, seed, point)


def place(folder: Path, cell: Named, task: str = TRANSLATION) -> Place:
    name = "-".join(filter(None, (cell.family, cell.layers, axes.named(cell.point), f"s{cell.seed}")))
    own = folder / "cells" / safe_names.plain(name)
    return Place(cell.family, cell.layers, cell.seed, own, point=cell.point, task=task)


def of_subset(folder: Path, name: str, subset: str, ending: str = "") -> Path:
    """As the recipes call them: of test run.json, of test1 run-test1.json."""
    return folder / (f"{name}{ending}" if subset == "test" else f"{name}-{subset}{ending}")


def digest(written: str, folder: Path, protocol: str) -> str:
    """Of a grid's text and of its protocol's, whose reader says what is wrong with the file."""
    file = folder / protocol
    own = file.read_bytes() if protocol.endswith(".toml") and file.is_file() else protocol.encode()
    return hashlib.sha256(written.encode() + b"\0" + own).hexdigest()


AGAIN = "use --fresh to redo it"
OF_STAGE = {
    **dict.fromkeys(("protocol", "device"), absent_or(text)),
    **dict.fromkeys(("wall_clock_hours", "gpu_hours"), absent_or(finite)),
    **{"updates": absent_or(count), "command": absent_or(kinds.list_of(text)), MADE_FROM: absent_or(kinds.table)},
}
SESSION = {"versions": absent_or(kinds.table_of(text))}


def read(record: Path) -> dict[str, Any]:
    """train.json or that of an average; nothing where there is none yet."""
    if not record.is_file():
        return {}
    found = checksummed_json.read(record, AGAIN)
    with json_records.expected(record, AGAIN):
        kinds.check(found, OF_STAGE)
        kinds.check(found.get(MADE_FROM, {}), {"settings": absent_or(kinds.table)}, f"{MADE_FROM}.")
        kinds.check_rows(found.get("sessions", []), SESSION, "sessions")
    return found
