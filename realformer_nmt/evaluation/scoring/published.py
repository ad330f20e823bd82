"""Scores that papers report, each with its source and its metric."""

import csv
from pathlib import Path

from msgspec import Struct, convert

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.records import Finite, Positive, Text
from realformer_nmt.common.requests.option_choice import not_allowed

TABLE = Path(__file__).with_name("published.csv")


class PublishedFigure(Struct, frozen=True, kw_only=True):
    """Score that a paper reports."""

    paper: Text
    dataset: str | None = None
    model: Text
    encoder_layers: Positive
    decoder_layers: Positive
    bleu: Finite | None  # None: training failed
    metric: Text
    note: Text
    comparable_with: Text | None = None  # the metric of ours that it may stand beside


def figures(dataset: str) -> list[PublishedFigure]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = [{**row, "bleu": row["bleu"] or None} for row in csv.DictReader(file)]
    every = convert(rows, list[PublishedFigure], strict=False)  # numbers are text in CSV
    of_dataset = [figure for figure in every if figure.dataset == dataset]
    if not of_dataset:
        raise UserError(not_allowed("--published", dataset, dict.fromkeys(str(figure.dataset) for figure in every)))
    return of_dataset
