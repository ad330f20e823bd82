"""Files of a report: one self-contained page, the tables, the plots."""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.atomic_files import completed
from realformer_nmt.common.stages import outputs
from realformer_nmt.comparison.records.cell_record import FINAL, MODEL_FAILED
from realformer_nmt.comparison.records.curves import TOO_SHORT
from realformer_nmt.comparison.report import (
    axis_plots,
    cell_plots,
    columns,
    curve_plots,
    formatting,
    notes,
    plots,
    provenance,
    report_table,
    tables,
)
from realformer_nmt.comparison.report.example_diff import examples
from realformer_nmt.comparison.report.finding import finding
from realformer_nmt.comparison.report.formatting import by_size, drawn_metric
from realformer_nmt.comparison.report.outside_table import outside_table
from realformer_nmt.comparison.report.power import best_rows
from realformer_nmt.comparison.report.tables import terminal_table as terminal_table
from realformer_nmt.comparison.results import results_file
from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.comparison.results.results_file import AnalysisResult, ResultRow, Results, group
from realformer_nmt.comparison.results.summary import ranked
from realformer_nmt.evaluation.p_values import ALPHA
from realformer_nmt.figures.drawing import Drawing

FILTERS = ("duration", "failure_text", "interval", "placed", "spread", "whole")
PAGE, STYLE = "report.html.jinja", "report.css.jinja"
RECORD = "results.json"  # its presence says that the other files are a comparison's
TABLES = {"table.md": tables.markdown, "table.csv": tables.spreadsheet, "table.tex": tables.latex}
REPORT = "report.html"


def check_folder(folder: Path, metric: str, axes: Iterable[str]) -> None:
    """Refuse a folder with files of the same names that no comparison has written."""
    try:
        results_file.read(folder / RECORD)
    except UserError:
        figures = [name for axis in (axis_plots.DEPTH, *axes) for name in (f"{metric}_by_{axis}.svg", f"{axis}.png")]
        for name in (RECORD, *TABLES, REPORT, *figures):
            outputs.check_free(folder / name, "compare")


def write(results: Results, folder: Path) -> None:
    """Write each file atomically; the previous page stays until the new one is complete."""
    figures = drawings(results)
    texts = {
        **{name: table(results) for name, table in TABLES.items()},
        REPORT: page(results, folder),
        **{f"{results.metric}_by_{name}.svg": drawing.file_svg() for name, drawing in figures.items()},
    }
    files = {name: text.encode() for name, text in texts.items()}
    files |= {f"{name}.png": drawing.png() for name, drawing in figures.items()}
    for name, content in files.items():
        with completed(folder / name) as stream:
            stream.write(content)


def drawings(results: Results) -> dict[str, Drawing]:
    """Return the main plots: quality against each axis of the grid, or against depth."""
    by_axis = axis_plots.against_axes(results) if results.axes else {}
    return by_axis or {"depth": plots.by_depth(results)}


def page(results: Results, folder: Path = Path()) -> str:
    """Return the page; the figures of analyses are read from the comparison's folder."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {name: getattr(formatting, name) for name in FILTERS}
    environment.filters |= {"moment": moment, "counted": report_table.counted, "columns": columns.columns}
    style = environment.get_template(STYLE).render(metrics=len(formatting.metrics(results)))
    hashed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return environment.get_template(PAGE).render(
        content(results), style=style, style_hash=hashed, analyses=analyses(results, folder)
    )


def content(results: Results) -> dict[str, object]:
    """Return the variables of the template, which escapes all but the drawings and the style."""
    states = Counter(cell.state for cell in results.cells)
    drawn = drawn_metric(results)
    return {
        "results": results,
        "metrics": formatting.metrics(results),
        "drawn": drawn,
        "states": states,
        "ended": sum(states[state] for state in (*FINAL, TOO_SHORT)),
        "failed": sum(states[state] for state in MODEL_FAILED),
        "finding": finding(results),
        "best": ranked([row for row in results.rows if row.best], drawn.name),  # none significantly worse
        "marked": best_rows(results.rows, drawn.name),
        "metric_columns": columns.metric_columns,
        "failed_rows": failed_rows(results),
        "groups": [(at, list(rows)) for at, rows in groupby(by_size(results.rows), formatting.placed)],
        "shared": provenance.shared(results.cells),
        "sizes": provenance.sizes(results.cells),
        "files": [RECORD, *TABLES],
        "further": report_table.test_sets(results)[1:],
        "unshared": provenance.unshared,
        "versions": provenance.versions(results),
        "stale": [cell for cell in by_size(results.cells) if cell.differences],
        "notes": notes.notes(results),
        "alpha": ALPHA,
        "spent": sum(cell.hours or 0 for cell in results.cells),
        "period": period(results.cells),
        "main": [(drawing.label, drawing.page_svg(f"{name}-")) for name, drawing in drawings(results).items()],
        "outside": outside_table(results),
        "tuned": report_table.tuned_table(results),
        "training": svgs(curve_plots.training(results), "train"),
        "validation": svgs(curve_plots.validation(results), "valid"),
        "cells": cells(results),
        "examples": examples(results),
    }


def analyses(results: Results, folder: Path) -> list[tuple[AnalysisResult, list[tuple[str, str]]]]:
    """Return each analysis with its figures, embedded as images, so that no script in them can run."""
    return [
        (analysis, [embedded(folder / analysis.folder / name) for name in analysis.figures])
        for analysis in results.analyses
    ]


def embedded(figure: Path) -> tuple[str, str]:
    coded = base64.b64encode(figure.read_bytes()).decode()
    return figure.stem.replace("_", " "), f"data:image/svg+xml;base64,{coded}"


def svgs(drawings: Iterable[Drawing], prefix: str) -> list[str]:
    return [drawing.page_svg(f"{prefix}-{number}-") for number, drawing in enumerate(drawings)]


def cells(results: Results) -> list[tuple[CellResult, list[str]]]:
    """Return each cell with its plots."""
    numbered = enumerate(by_size(results.cells))
    return [(cell, svgs(cell_plots.drawings(cell), f"cell{number}")) for number, cell in numbered]


def failed_rows(results: Results) -> list[tuple[ResultRow, str]]:
    """Return the rows with failed models, each with the evidence of its first failed cell."""
    failed = [cell for cell in results.cells if cell.state in MODEL_FAILED]
    rows = [row for row in by_size(results.rows) if row.failed]
    return [(row, next(cell.evidence or "" for cell in failed if group(cell) == group(row))) for row in rows]


def period(cells: Sequence[CellResult]) -> tuple[str | None, str | None]:
    """Return the first start and the last end."""
    starts = [cell.started for cell in cells if cell.started]
    ends = [cell.finished for cell in cells if cell.finished]
    return min(starts, default=None), max(ends, default=None)


def moment(stamp: str | None) -> str:
    """Return 2026-11-20T18:00:00+00:00 as 2026-11-20 18:00 UTC."""
    return f"{stamp[:10]} {stamp[11:16]} UTC" if stamp else formatting.NOTHING
