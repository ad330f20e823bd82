"""`realformer-nmt compare GRID.toml`: which architecture, how deep, and is the difference real?"""

import argparse
from pathlib import Path

from realformer_nmt.command import run_in_fairseq
from realformer_nmt.common.numbers import MOST_SEEDS, POSITIVE, PROCESSES, whole
from realformer_nmt.comparison import status
from realformer_nmt.protocols import trackers

EXAMPLES = """examples:
  realformer-nmt compare recipes/quickstart/grid.toml --prepared demo/data --folder demo --jobs 2
  realformer-nmt compare grid.toml --folder runs --plan
  realformer-nmt compare grid.toml --folder runs --launcher slurm
  realformer-nmt compare grid.toml --folder runs --report
  realformer-nmt compare grid.toml --folder runs --only pre_ln --only admin --add-seeds 2
  realformer-nmt compare grid.toml --folder runs --merge runs-of-another-machine
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Trains, averages, translates and scores every cell of a grid, and writes the report. Cells that are done are "
        "skipped, so after an interruption the same command goes on. A model that diverges or is stuck is a result."
    )
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("grid", type=Path, metavar="GRID.TOML", help="the grid: what is compared (docs/comparing.md)")
    parser.add_argument(
        "--folder", type=Path, required=True, help="where cells, results.json and report.html are written"
    )
    parser.add_argument(
        "--prepared",
        type=Path,
        metavar="DIR",
        help="folder of `realformer-nmt prepare`, or the data-bin of one text, if the grid names none",
    )
    parser.add_argument("--archives", type=Path, metavar="DIR", help="archives that you have; others are downloaded")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--plan", action="store_true", help="show cells, parameters, cost and commands; run nothing")
    what.add_argument("--status", action="store_true", help="show how far each cell is; works at any time")
    what.add_argument("--report", action="store_true", help="write the report of what is done; works at any time")
    what.add_argument(
        "--merge", type=Path, nargs="+", metavar="FOLDER", help="take over finished cells, made elsewhere by this grid"
    )
    parser.add_argument(
        "--only", action="append", metavar="FAMILY", help="run this family alone (repeatable); the report is of all"
    )
    parser.add_argument(
        "--add-seeds", type=whole(0, MOST_SEEDS), default=0, metavar="N", help="N seeds beyond the grid's"
    )
    parser.add_argument("--anew", action="store_true", help="make again what no longer fits the grid")
    parser.add_argument(
        "--launcher",
        choices=("here", "slurm"),
        default="here",
        help="run on this machine, or one SLURM job for each cell",
    )
    parser.add_argument(
        "--gpus", type=whole(0), metavar="N", help="GPUs (here: all, one for each cell; slurm: 1); 0: the CPU"
    )
    parser.add_argument(
        "--jobs", type=whole(1, PROCESSES), metavar="N", help="cells at the same time (one for each GPU; CPU: 1)"
    )
    trackers.add_arguments(parser)
    parser.add_argument(
        "--tflops", type=POSITIVE, metavar="X", help="for --plan: TFLOP/s of the machine, to estimate hours"
    )


def run(args: argparse.Namespace) -> int:
    """How far the cells are is said without fairseq, which takes seconds to start."""
    cells = status.noted(args.grid, args.folder) if args.status and not (args.only or args.add_seeds) else None
    if cells is None:
        return run_in_fairseq("compare", "realformer_nmt.comparison.execution", args)
    print(status.table(cells))
    return 0
