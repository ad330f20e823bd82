"""Write the tables of docs/why_pre_ln_leads.md and of the records behind it: python tools/pre_ln_tables.py

A table stands between `<!-- table NAME -->` and `<!-- end -->`.
"""

import json
import statistics
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

RESULTS = Path("docs/results")
PAGES = (Path("docs/why_pre_ln_leads.md"), *sorted(RESULTS.rglob("*.md")))
MULTI30K = ("multi30k_en_de_6l/results.json", "multi30k_en_de/results.json")


def main() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name, table in TABLES.items():
            head, begin, rest = text.partition(f"<!-- table {name} -->")
            if begin:
                text = f"{head}{begin}\n\n{table()}\n<!-- end -->{rest.partition('<!-- end -->')[2]}"
        page.write_text(text, encoding="utf-8")


def budget(records: Iterable[str]) -> str:
    """Loss on the validation data as the training goes on, and the score of its end."""
    cells = [cell for record in records for cell in _read(record)["cells"]]
    curves = [{point["update"]: point["nll_loss"] for point in cell["curves"]["valid"]} for cell in cells]
    updates = sorted(set().union(*curves))
    rows = [
        [
            cell["depth"],
            f"`{cell['family']}`",
            *(_figure(curve.get(update), 2) for update in updates),
            _score(cell),
        ]
        for cell, curve in zip(cells, curves, strict=True)
    ]
    return _table(["layers", "family", *map(str, updates), "sacreBLEU"], rows)


def easy() -> str:
    cells = _read("quickstart_500/results.json")["cells"]
    rows = [[f"`{cell['family']}`", _figure(cell["scores"]["bleu"]["score"], 2)] for cell in cells]
    return _table(["family", "500 updates"], rows)


def ablation(record: str) -> str:
    """A row a family, a column a point of the axes."""
    cells = _read(f"{record}/results.json")["cells"]
    rows: dict[str, dict[str, str]] = {}
    for cell in cells:
        point = ", ".join(f"{axis} {value:g}" for axis, value in cell["axes"].items())
        rows.setdefault(cell["family"], {})[point] = _score(cell)
    points = list(dict.fromkeys(point for scores in rows.values() for point in scores))
    return _table(["family", *points], [[f"`{family}`", *map(scores.get, points)] for family, scores in rows.items()])


def by_budget(record: str) -> str:
    """A row a budget, a column a family, the mean of its seeds."""
    rows: dict[int, dict[str, str]] = {}
    for row in _read(f"{record}/results.json")["rows"]:
        rows.setdefault(row["axes"]["updates"], {})[f"`{row['family']}`"] = _mean(**row["scores"]["bleu"])
    families = list(dict.fromkeys(family for scores in rows.values() for family in scores))
    return _table(["updates", *families], [[updates, *map(scores.get, families)] for updates, scores in rows.items()])


def longer() -> str:
    """A row a budget: what the families of the longer one had with their first seed."""
    records = [_read(f"multi30k_128/{name}.json")["cells"] for name in ("short", "longer_seed_1")]
    families = [cell["family"] for cell in records[1]]
    rows = []
    for cells in records:
        by_family = {cell["family"]: cell for cell in cells if cell["depth"] == "18" and cell["seed"] == 1}
        family_scores = [by_family[family]["scores"] for family in families]
        figures = [_figure(scores[name]["score"], 2) for name in ("bleu", "valid_loss") for scores in family_scores]
        rows.append([by_family[families[0]]["axes"]["updates"], *figures])
    heads = [f"`{family}`{suffix}" for suffix in ("", ", loss") for family in families]
    return _table(["updates", *heads], rows)


def longer_seeds() -> str:
    """A row a family: its loss after each epoch of the longer training, over the seeds that are trained."""
    curves: dict[str, list[dict[int, float]]] = {}
    for record in sorted(RESULTS.glob("multi30k_128/longer*.json")):
        for cell in _read(str(record.relative_to(RESULTS)))["cells"]:
            points = {point["update"]: point["nll_loss"] for point in cell["curves"]["valid"]}
            curves.setdefault(cell["family"], []).append(points)
    updates = sorted({update for of_seeds in curves.values() for curve in of_seeds for update in curve})
    rows = [
        [f"`{family}`", len(of_seeds), *(_spread([curve[update] for curve in of_seeds]) for update in updates)]
        for family, of_seeds in sorted(curves.items())
    ]
    return _table(["family", "seeds", *map(str, updates)], rows)


def gradients() -> str:
    rows = [
        [
            row["depth"],
            f"`{row['family']}`",
            *(_figure(norm, 3) for norm in row["gradient"].values()),
            _figure(row["gradient"]["last of the decoder"] / row["gradient"]["first of the decoder"], 1),
        ]
        for row in _read("gradients_at_start.json")["rows"]
    ]
    return _table(["layers", "family", *_read("gradients_at_start.json")["rows"][0]["gradient"], "last / first"], rows)


def _read(file: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((RESULTS / file).read_text(encoding="utf-8"))
    return record


def _score(cell: dict[str, Any]) -> str:
    return _figure(cell["scores"]["bleu"]["score"], 2) if cell["scores"] else str(cell["state"])


def _mean(mean: float, deviation: float | None) -> str:
    return _figure(mean, 2) if deviation is None else f"{mean:.2f} ± {deviation:.2f}"


def _spread(values: list[float]) -> str:
    return _mean(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None)


def _figure(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _table(head: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    cells = list(head)
    head_line, *lines = (f"| {' | '.join(map(str, line))} |\n" for line in (cells, *rows))
    return "".join([head_line, f"|{'---|' * len(cells)}\n", *lines])


TABLES: dict[str, Callable[[], str]] = {
    "budget": partial(budget, MULTI30K),
    "crossing": partial(budget, ["multi30k_128/longer_seed_1.json"]),
    "easy": easy,
    "gradients": gradients,
    "rates": partial(ablation, "ablations_lr"),
    "half": partial(ablation, "ablations_budget"),
    "dropout": partial(ablation, "ablations_dropout"),
    "deep": partial(by_budget, "quickstart_longer"),
    "longer": longer,
    "longer_seeds": longer_seeds,
}

if __name__ == "__main__":
    main()
