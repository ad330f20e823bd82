"""Request of `realformer-nmt compare GRID.toml`, which trains architectures at several depths and compares them."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from realformer_nmt.common.numbers import MOST_SEEDS, POSITIVE, PROCESSES, whole
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.protocols.trackers import TrackerOptions


@dataclass(frozen=True, kw_only=True)
class CompareRequest(TrackerOptions):
    """Train, average, translate and score every cell of a grid, and write the report. Cells that are done are skipped.
    After an interruption the same command resumes. A model that diverges or is stuck is a result."""

    subcommand: ClassVar[str] = "compare"
    implementation: ClassVar[str] = "realformer_nmt.comparison.compare"
    examples: ClassVar[str] = """examples:
  realformer-nmt compare grid.toml --prepared demo/data --folder runs --jobs 2
  realformer-nmt compare grid.toml --folder runs --plan
  realformer-nmt compare grid.toml --folder runs --launcher slurm
  realformer-nmt compare grid.toml --folder runs --report
  realformer-nmt compare grid.toml --folder runs --only pre_ln --only admin --add-seeds 2
  realformer-nmt compare grid.toml --folder runs --merge runs-of-another-machine
"""

    grid: Path = argument("the grid: what is compared (in a clone: docs/comparing.md)", metavar="GRID.TOML")
    folder: Path = option("where cells, results.json and report.html are written")
    prepared: Path | None = option(
        "folder of `realformer-nmt prepare`, or the data-bin of one text, if the grid names none", None, metavar="DIR"
    )
    archives: Path | None = option("archives that you have; others are downloaded", None, metavar="DIR")
    plan: bool = option("show cells, parameters, cost and commands; run nothing", False, either="what")
    status: bool = option("show the state of each cell; may be called at any time", False, either="what")
    report: bool = option("write the report of the finished cells; may be called at any time", False, either="what")
    merge: tuple[Path, ...] = option(
        "copy finished cells of this grid from the --folder of another comparison", (), metavar="FOLDER", either="what"
    )
    only: tuple[str, ...] = option(
        "run only this family (repeatable); the report still has all families", (), metavar="FAMILY", repeated=True
    )
    cell: str = option(
        "run this cell alone, even while a comparison in the folder runs others; the report is not written",
        "",
        metavar="NAME",
        either="what",
    )
    add_seeds: int = option("train N more seeds than the grid names", 0, metavar="N", range=whole(0, MOST_SEEDS))
    outside: tuple[str, ...] = option(
        "a translation of the test set from elsewhere, a line for each line: it is scored, tested and reported",
        (),
        metavar="NAME=FILE",
        repeated=True,
    )
    fresh: bool = option("redo results that were made with other settings or files", False)
    launcher: Literal["here", "slurm"] = option("run on this machine, or one SLURM job for each cell", "here")
    gpus: int | None = option(
        "GPUs (here: all, one for each cell; slurm: 1); 0: the CPU", None, metavar="N", range=whole(0)
    )
    jobs: int | None = option(
        "cells at the same time (one for each GPU; CPU: 1)", None, metavar="N", range=whole(1, PROCESSES)
    )
    tflops: float | None = option(
        "for --plan: TFLOP/s of the machine, to estimate hours", None, metavar="X", range=POSITIVE
    )


REQUEST = CompareRequest
