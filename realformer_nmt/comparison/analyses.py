"""What `realformer-nmt analyse` found in the models of a comparison, and which of the papers' claims it supports.

An analysis is a comparison's if it lies in its folder, in one of its own (FOLDER/analysis), and if every model of it
is the averaged model of a cell, by its hash.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from realformer_nmt.analysis.claims import CLAIMS, summary
from realformer_nmt.common import sealed
from realformer_nmt.common.json_records import expected
from realformer_nmt.common.outputs import OUTPUTS
from realformer_nmt.common.provenance import MADE_FROM
from realformer_nmt.common.text_lines import sha256
from realformer_nmt.comparison.cell import Cell, read
from realformer_nmt.comparison.note import Note

RECORD = "analysis.json"
AGAIN = "`realformer-nmt analyse --anew` makes it again"
WANTED = {"models": list, OUTPUTS: dict, MADE_FROM: dict}
Record = dict[str, Any]


def gather(folder: Path, cells: Sequence[Cell]) -> list[Record]:
    known = {digest: cell for cell in cells for digest in averaged(cell)}
    return [found for file in sorted(folder.glob(f"*/{RECORD}")) if (found := describe(file, known))]


def averaged(cell: Cell) -> list[str]:
    """The hash of its averaged model, once there is one, where the record of it is the cell's."""
    if Note(cell).breaks:
        return []
    outputs = read(cell.folder / "average.pt.json").get(OUTPUTS, {})
    return [made["sha256"] for name, made in outputs.items() if name == "average.pt"]


def describe(file: Path, known: Mapping[str, Cell]) -> Record | None:
    record = sealed.read(file, AGAIN, WANTED)
    with expected(file, AGAIN):
        inputs = record[MADE_FROM]["inputs"]
        cells = [known.get(inputs[f"{model['name']}.pt"]["sha256"]) for model in record["models"]]
        of = [cell for cell in cells if cell]
        if len(of) < len(cells):
            return None
        figures = [
            name for name, made in record[OUTPUTS].items() if name.endswith(".svg") and is_whole(file, name, made)
        ]
        claims = list(supported(list(zip(of, record["models"], strict=True))))
        described = {"subset": record[MADE_FROM]["settings"]["subset"], "figures": sorted(figures), "claims": claims}
        return {"folder": file.parent.name, "cells": [cell.name for cell in of], **described}


def is_whole(file: Path, name: str, made: Mapping[str, Any]) -> bool:
    """As it was drawn, and not elsewhere."""
    figure = file.with_name(name)
    return Path(name).name == name and figure.is_file() and sha256(figure) == made["sha256"]


def supported(models: Sequence[tuple[Cell, Record]]) -> Iterator[Record]:
    """Each claim about trained models, among those of one depth and seed at one point of the axes."""
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for cell, model in models:
        groups.setdefault((cell.layers, cell.seed, cell.point), []).append(summary(model))
    for claim in CLAIMS:
        for rows in groups.values() if claim.of == "trained" else ():
            for found in claim.check(rows):
                yield {"paper": claim.paper, "predicted": claim.predicted, **found._asdict()}
