"""Write the tables of docs/results/why_pre_ln_leads.md and of the records behind it.

python docs/results/scripts/pre_ln_tables.py
"""

import json
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import to_builtins
from page_tables import figure, table, write

from realformer_nmt.comparison.results import results_file

RESULTS = Path("docs/results")
PAGES = sorted(RESULTS.rglob("*.md"))
MULTI30K = ("multi30k_en_de_6l", "multi30k_en_de")


def main() -> None:
    for page in PAGES:
        write(page, TABLES)


def budget(records: Iterable[str]) -> str:
    """Loss on the validation data as the training goes on, and the score of its end."""
    cells = [cell for record in records for cell in _read(record)["cells"]]
    curves = [{point["update"]: point["nll_loss"] for point in cell["curves"]["valid"]} for cell in cells]
    updates = sorted(set().union(*curves))
    rows = [
        [
            cell["depth"],
            f"`{cell['family']}`",
            *(figure(curve.get(update), 2) for update in updates),
            _score(cell),
        ]
        for cell, curve in zip(cells, curves, strict=True)
    ]
    return table(["layers", "family", *map(str, updates), "sacreBLEU"], rows)


def easy() -> str:
    cells = _read("quickstart_500")["cells"]
    rows = [[f"`{cell['family']}`", figure(cell["scores"]["bleu"]["score"], 2)] for cell in cells]
    return table(["family", "500 updates"], rows)


def ablation(record: str) -> str:
    """A row a family, a column a point of the axes."""
    cells = _read(record)["cells"]
    rows: dict[str, dict[str, str]] = {}
    for cell in cells:
        point = ", ".join(f"{axis} {value:g}" for axis, value in cell["axes"].items())
        rows.setdefault(cell["family"], {})[point] = _score(cell)
    points = list(dict.fromkeys(point for scores in rows.values() for point in scores))
    return table(["family", *points], [[f"`{family}`", *map(scores.get, points)] for family, scores in rows.items()])


def by_budget(record: str) -> str:
    """A row a budget, a column a family, the mean of its seeds."""
    rows: dict[int, dict[str, str]] = {}
    for row in _read(record)["rows"]:
        rows.setdefault(row["axes"]["updates"], {})[f"`{row['family']}`"] = _mean(**row["scores"]["bleu"])
    families = list(dict.fromkeys(family for scores in rows.values() for family in scores))
    return table(["updates", *families], [[updates, *map(scores.get, families)] for updates, scores in rows.items()])


def gradients() -> str:
    record = json.loads((RESULTS / "gradients_at_start.json").read_text(encoding="utf-8"))
    rows = [
        [
            row["depth"],
            f"`{row['family']}`",
            *(figure(norm, 3) for norm in row["gradient"].values()),
            figure(row["gradient"]["last of the decoder"] / row["gradient"]["first of the decoder"], 1),
        ]
        for row in record["rows"]
    ]
    return table(["layers", "family", *record["rows"][0]["gradient"], "last / first"], rows)


def _read(name: str) -> dict[str, Any]:
    record: dict[str, Any] = to_builtins(results_file.read(RESULTS / name / "results.json"))
    return record


def _score(cell: dict[str, Any]) -> str:
    return figure(cell["scores"]["bleu"]["score"], 2) if cell["scores"] else str(cell["state"])


def _mean(mean: float, deviation: float | None) -> str:
    return figure(mean, 2) if deviation is None else f"{mean:.2f} ± {deviation:.2f}"


TABLES: dict[str, Callable[[], str]] = {
    "budget": partial(budget, MULTI30K),
    "easy": easy,
    "gradients": gradients,
    "rates": partial(ablation, "ablations_lr"),
    "half": partial(ablation, "ablations_budget"),
    "dropout": partial(ablation, "ablations_dropout"),
    "deep": partial(by_budget, "quickstart_longer"),
}

if __name__ == "__main__":
    main()
