"""The last step of a comparison: gather its results, write results.json and the report, print the table."""

import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from realformer_nmt.common.files.json_records import expected
from realformer_nmt.common.stages.stage import AGAIN
from realformer_nmt.comparison.grid.corpus import CorpusChoice
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.comparison.grid.outside_texts import OutsideText
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.report import document
from realformer_nmt.comparison.results import gather, measured_cell, outside_rows, results_file, too_short


def write_report(
    grid: Grid,
    corpus: CorpusChoice,
    states: Sequence[CellState],
    folder: Path,
    outside: Sequence[OutsideText] = (),
    cpu: bool = False,
) -> None:
    """Gather the results of all cells, write results.json and the report, and print the table."""
    with expected(folder / "cells", AGAIN):
        record = gather.gather(grid, corpus, states, ["realformer-nmt", *sys.argv[1:]])
        scored = measured_cell.scored_cells(states, grid.subsets[0])
        record = replace(record, outside=outside_rows.rows(outside, grid, corpus, scored, record.rows, cpu))
        results_file.write(folder / document.RECORD, record)
        shown = too_short.restated(record)
        document.write(shown, folder)
    print(document.terminal_table(shown))
    print(f"\n{folder / 'report.html'}")
