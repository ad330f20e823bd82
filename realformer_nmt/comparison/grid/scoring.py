"""How a comparison scores models; a task's row names its scoring."""

from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import NamedTuple

from realformer_nmt.comparison.compare_request import CompareRequest
from realformer_nmt.comparison.grid.cell import Stages
from realformer_nmt.comparison.grid.corpus import CorpusChoice
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.evaluation.p_values import SeedDifference
from realformer_nmt.protocols.protocol import Protocol
from realformer_nmt.tasks import TASKS


class Scoring(NamedTuple):
    find: Callable[[Grid, CompareRequest], CorpusChoice]  # from the grid, --prepared and --archives
    stages: Callable[[Grid, CorpusChoice, Path, Protocol, str], Stages]  # of a subset, after the average
    compare: Callable[[Path, Path, str, int, int], SeedDifference | None]


def scoring_of(task: str) -> Scoring:
    scoring: Scoring = resolve_name(TASKS[task].scoring)
    return scoring
