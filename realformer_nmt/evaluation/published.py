"""Scores that papers report, each with its source and its metric."""

import csv
from pathlib import Path
from typing import NamedTuple

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.option_choice import unknown

TABLE = Path(__file__).with_name("published.csv")


class PublishedFigure(NamedTuple):
    paper: str
    dataset: str
    model: str
    encoder_layers: int
    decoder_layers: int
    bleu: float | None  # None: training failed
    metric: str
    note: str


def figures(dataset: str) -> list[PublishedFigure]:
    of_dataset = [figure for figure in _read() if figure.dataset == dataset]
    if not of_dataset:
        names = dict.fromkeys(figure.dataset for figure in _read())
        raise UserError(unknown("--published", dataset, names))
    return of_dataset


def _read() -> list[PublishedFigure]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [figure(row) for row in csv.DictReader(file)]


def figure(row: dict[str, str]) -> PublishedFigure:
    return PublishedFigure(
        paper=row["paper"],
        dataset=row["dataset"],
        model=row["model"],
        encoder_layers=int(row["encoder_layers"]),
        decoder_layers=int(row["decoder_layers"]),
        bleu=float(row["bleu"]) if row["bleu"] else None,
        metric=row["metric"],
        note=row["note"],
    )
