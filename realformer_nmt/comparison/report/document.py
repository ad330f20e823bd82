"""The files of a comparison: one page that needs nothing else, the tables, the picture."""

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from realformer_nmt.common import outputs
from realformer_nmt.common.atomic_files import completed
from realformer_nmt.comparison.groups import group
from realformer_nmt.comparison.report import axis_plots, cell_plots, columns, curve_plots, made, plots, tables, wording
from realformer_nmt.comparison.report.cost_plot import cost
from realformer_nmt.comparison.report.sentences import examples
from realformer_nmt.comparison.report.tables import terminal_table as terminal_table
from realformer_nmt.comparison.report.wording import Record, by_size, drawn_metric
from realformer_nmt.evaluation.significance import ALPHA
from realformer_nmt.figures.drawing import Drawing

FILTERS = (
    "fallen",
    "hours",
    "interval",
    "millions",
    "placed",
    "spread",
    "whole",
    "counted",
)
PAGE, STYLE = "report.html.jinja", "report.css.jinja"
RECORD = "results.json"  # by which the other files are known
TABLES = {"table.md": tables.markdown, "table.csv": tables.spreadsheet, "table.tex": tables.latex}
REPORT = "report.html"


def check_folder(folder: Path, metric: str, axes: Iterable[str]) -> None:
    """Refuse files in their places that no comparison has written."""
    outputs.check_folder(folder, "compare")
    outputs.check_record(folder / RECORD, "compare")
    if not outputs.holds_record(folder / RECORD, "compare"):
        figures = [name for axis in (axis_plots.DEPTH, *axes) for name in (f"{metric}_by_{axis}.svg", f"{axis}.png")]
        for name in (*TABLES, REPORT, *figures):
            outputs.check_free(folder / name, "compare")


def write(results: Record, folder: Path) -> None:
    """Each file whole or not at all; a page of before stays until the new one is there."""
    figures = drawings(results)
    files = {
        **{name: table(results) for name, table in TABLES.items()},
        REPORT: page(results, folder),
        **{f"{results['metric']}_by_{name}.svg": drawing.file_svg() for name, drawing in figures.items()},
    }
    encoded = {name: text.encode("utf-8", "replace") for name, text in files.items()}  # a lone surrogate is a ?
    pictures = {f"{name}.png": drawing.png() for name, drawing in figures.items()}
    for name, content in {**encoded, **pictures}.items():
        with completed(folder / name) as stream:
            stream.write(content)


def drawings(results: Record) -> dict[str, Drawing]:
    """The main plots: against depth, or where the grid has axes, against each."""
    return (results.get("axes") and axis_plots.against_axes(results)) or {"depth": plots.by_depth(results)}


def page(results: Record, folder: Path | None = None) -> str:
    """Figures of analyses lie in the comparison's folder."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {name: getattr(wording, name) for name in FILTERS}
    environment.filters["moment"] = moment
    style = environment.get_template(STYLE).render(metrics=len(wording.metrics(results)))
    hashed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return environment.get_template(PAGE).render(
        content(results), style=style, style_hash=hashed, analyses=analyses(results, folder)
    )


def content(results: Record) -> dict[str, Any]:
    """What the template says, computed; it escapes all but the drawings and the style."""
    states = Counter(cell["state"] for cell in results["cells"])
    drawn = drawn_metric(results)
    costs = cost(results)
    return {
        "results": results,
        "metrics": wording.metrics(results),
        "drawn": drawn,
        "states": states,
        "failed": sum(states[state] for state in wording.FAILED),
        "best": best(results, drawn),
        "pane": columns.pane,
        "fallen": fallen(results),
        "groups": [(at, list(rows)) for at, rows in groupby(by_size(results["rows"]), wording.placed)],
        "shared": made.shared(results["cells"]),
        "further": [further(table) for table in wording.test_sets(results)[1:]],
        "own": made.own,
        "versions": made.versions(results),
        "stale": [cell for cell in by_size(results["cells"]) if cell["differences"]],
        "tested": wording.tested(results),
        "alpha": ALPHA,
        "spent": sum(cell["hours"] or 0 for cell in results["cells"]),
        "period": period(results["cells"]),
        "main": [(drawing.label, drawing.page_svg(f"{name}-")) for name, drawing in drawings(results).items()],
        "tuned": tuned(results),
        "training": svgs(curve_plots.training(results), "train"),
        "validation": svgs(curve_plots.validation(results), "valid"),
        "cost": costs.page_svg("cost-") if costs else None,
        "cells": [(cell, cell_svgs(json.dumps(cell_plots.drawn(cell)))) for cell in by_size(results["cells"])],
        "examples": examples(results),
    }


def tuned(results: Record) -> Record | None:
    found = wording.tuned(results)
    return found and {**found, "columns": tables.shown(found), "rows": by_size(found["rows"])}


def analyses(results: Record, folder: Path | None) -> list[tuple[Record, list[tuple[str, str]]]]:
    """Each with its figures: pictures in which nothing runs, whoever made them."""
    if folder is None:
        return []
    places = [(record, folder / record["folder"]) for record in results.get("analyses", [])]
    return [(record, [embedded(place / name) for name in record["figures"]]) for record, place in places]


def embedded(figure: Path) -> tuple[str, str]:
    coded = base64.b64encode(figure.read_bytes()).decode()
    return figure.stem.replace("_", " "), f"data:image/svg+xml;base64,{coded}"


def further(table: Record) -> tuple[str, list[columns.Column], list[Record]]:
    """What the table of one more test set is of, its columns and its rows."""
    return wording.scored_on(table), tables.shown(table), by_size(table["rows"])


def svgs(drawings: Iterable[Drawing], prefix: str) -> list[str]:
    return [drawing.page_svg(f"{prefix}-{place}-") for place, drawing in enumerate(drawings)]


@lru_cache(maxsize=1024)
def cell_svgs(drawn: str) -> list[str]:
    """Kept, for a comparison writes its report after every cell."""
    return svgs(cell_plots.drawings(json.loads(drawn)), f"cell{hashlib.sha256(drawn.encode()).hexdigest()[:12]}")


def best(results: Record, metric: Record) -> list[Record]:
    """The row with the best mean, and those that are not significantly worse."""
    rows = [row for row in results["rows"] if row["best"]]
    return sorted(rows, key=lambda row: row["scores"][metric["name"]]["mean"], reverse=metric["higher_is_better"])


def fallen(results: Record) -> list[tuple[Record, str]]:
    """The rows with models that failed, and the evidence of the first."""
    rows = [row for row in by_size(results["rows"]) if row["failed"]]
    return [(row, next(cell["evidence"] or "" for cell in results["cells"] if failed(cell, row))) for row in rows]


def failed(cell: Record, row: Record) -> bool:
    return cell["state"] in wording.FAILED and group(cell) == group(row)


def period(cells: Iterable[Record]) -> tuple[str | None, str | None]:
    """The first start and the last end."""
    times = [(cell["started"], cell["finished"]) for cell in cells]
    return (
        min((start for start, _ in times if start), default=None),
        max((end for _, end in times if end), default=None),
    )


def moment(stamp: str | None) -> str:
    """2026-11-20T18:00:00+00:00 for a reader: 2026-11-20 18:00, in the zone that it was noted in."""
    if not stamp:
        return wording.NOTHING
    zone = stamp[19:].lstrip(".0123456789")
    return f"{stamp[:10]} {stamp[11:16]}{' UTC' if zone in ('+00:00', 'Z') else ' ' + zone}".strip()
