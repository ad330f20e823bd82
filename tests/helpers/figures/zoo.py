"""The cells and the rows of recipes/zoo's records, by family and depth."""

from functools import cache
from statistics import fmean
from typing import Any

from figures.pages import RESULTS, record

Content = dict[str, Any]
RATES = (0.001, 0.002)


class Trained(dict[tuple[float, int], Content]):
    """The cells of a family at one depth, by learning rate and seed."""

    @property
    def rate(self) -> float:
        return min(RATES, key=lambda rate: loss(self.get((rate, 1))))

    @property
    def mean(self) -> str:
        """The mean over seeds at the rate with the lower validation loss."""
        cells = [cell for (rate, _), cell in self.items() if rate == self.rate]
        scores = [score(cell) for cell in cells if cell["scores"]]
        return f"{fmean(scores):.1f}" if scores else str(cells[0]["state"])


def score(cell: Content) -> float:
    return float(cell["scores"]["bleu"]["score"])


def loss(cell: Content | None) -> float:
    return float(cell["scores"]["valid_loss"]["score"]) if cell and cell["scores"] else float("inf")


def bleu(cell: Content | None) -> str:
    return "" if cell is None else f"{score(cell):.1f}" if cell["scores"] else str(cell["state"])


@cache
def trained(depth: str, five: bool = False) -> dict[str, Trained]:
    """Return the cells of the 37 families, or of the five beside Pre-LN, at a depth."""
    families: dict[str, Trained] = {}
    for file in RESULTS.glob(f"zoo_more/{depth}l.json" if five else f"zoo_{depth}l/*.json"):
        for cell in record(str(file.relative_to(RESULTS).with_suffix("")))["cells"]:
            families.setdefault(cell["family"], Trained())[cell["axes"]["lr"], cell["seed"]] = cell
    return families


def significant(name: str) -> dict[str, Content]:
    """Return the rows that differ significantly from Pre-LN, at the chosen rates where the record has both."""
    content = record(name)
    rows = (content["tuned"] or content)["rows"]
    return {row["family"]: row for row in rows if row["delta"] and row["p_holm"] is not None and row["p_holm"] < 0.05}


def leads(name: str) -> dict[str, float]:
    return {family: row["delta"]["bleu"] for family, row in significant(name).items() if row["delta"]["bleu"] > 0}
