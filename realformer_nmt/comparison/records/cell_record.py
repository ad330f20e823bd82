"""cell.json: the state of a cell, and the machine and the sessions that it ran in."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType, field

from realformer_nmt.common.files.records import Finite, Text
from realformer_nmt.common.stages.versions import Machine
from realformer_nmt.comparison.grid.cell import Failure


class CellSession(Struct, frozen=True, kw_only=True):
    """Time between a start of the cell and its end or death."""

    started: Text | None = None
    finished: Text | None = None
    faults: list[str] = []  # of stages that were tried again


class CellRecord(Struct, frozen=True, kw_only=True):
    """Content of cell.json."""

    state: Literal["waiting", "running", "done", "stuck", "diverged", "error"]
    evidence: Text | None = None
    sessions: list[CellSession]
    unigram_entropy: Finite | None = None
    machine: Machine | UnsetType | None = UNSET
    cell: Text | UnsetType | None = UNSET  # its name, absent in records of older versions
    failure: Failure | UnsetType = UNSET  # the rule that it was judged by
    grid_digest: str | UnsetType = field(default=UNSET, name="asked")
    scores: list[Text] | UnsetType = UNSET  # names of the files that it has once it is done


WAITING = CellRecord(state="waiting", sessions=[])  # before the first start
