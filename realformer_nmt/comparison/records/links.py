"""Whether the records in a cell's folder are that cell's: each holds the hash of what the one before has made."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from realformer_nmt.checkpoints.run_records import strangers
from realformer_nmt.common import checksummed_json
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.json_records import expected
from realformer_nmt.common.provenance import MADE_FROM, fingerprint
from realformer_nmt.common.stage_record import OUTPUTS
from realformer_nmt.common.text_lines import sha256
from realformer_nmt.comparison.grid.cell import AGAIN, CellFolder, read
from realformer_nmt.protocols.run_files import CURVES, RECORD

AVERAGE = "average.pt"
NAME = "cell"  # of cell.json; that of an older version has none
Record = dict[str, Any]


def breaks(cell: CellFolder, note: Record) -> list[str]:
    """Which records are another cell's, in words; `note` is cell.json's content."""
    try:
        with expected(cell.folder, AGAIN):
            train, average = read(cell.folder / RECORD), read(cell.folder / f"{AVERAGE}.json")
            runs = sorted(cell.folder.glob("run*.json"))
            of_runs = [told for run in runs for told in of_scores(cell.folder, run, average)]
            before = [*of_cell(cell, note, train), *of_training(cell.folder, train), *of_average(average, train)]
            return before + of_runs
    except UserError as error:
        return [str(error)]


def of_cell(cell: CellFolder, note: Record, train: Record) -> Iterator[str]:
    """The name in cell.json, and what train.json says of the training."""
    if note.get(NAME, cell.name) != cell.name:
        yield f"{cell.note.name} is of cell {note[NAME]}"
    layers = "-".join(dict.fromkeys(str(number) for number in train.get("layers", ()) if number))  # 6: 6 of each side
    trained = {"arch": train.get("arch"), "layers": layers or None}
    trained["seed"] = train.get(MADE_FROM, {}).get("settings", {}).get("seed")
    own = {"arch": cell.family, "layers": "-".join(dict.fromkeys(cell.layers.split("-"))), "seed": cell.seed}
    for name, value in trained.items():
        if value not in (None, own[name]):
            yield f"{RECORD} is of another cell: {name} {value}"


def of_training(folder: Path, train: Record) -> Iterator[str]:
    """The curves of a training that is complete."""
    made, file = train.get(OUTPUTS, {}).get(CURVES), folder / CURVES
    if made and file.is_file() and fingerprint(file, made)["sha256"] != made["sha256"]:
        yield f"{CURVES} is of another training than {RECORD}"


def of_average(average: Record, train: Record) -> Iterator[str]:
    for name in strangers(average, train):
        yield f"{AVERAGE}.json is of another training than {RECORD}: {name} is none of its checkpoints"


def of_scores(folder: Path, run: Path, average: Record) -> Iterator[str]:
    """A translation is scored by the record beside it; a model of another task is measured itself."""
    scored = checksummed_json.read(run, AGAIN, {MADE_FROM: dict})
    subset = run.stem.removeprefix("run").removeprefix("-")
    if scored.get("subset") not in (None, subset or "test"):
        yield f"{run.name} is of the subset {scored['subset']}"
    inputs = scored[MADE_FROM]["inputs"]
    translation = folder / f"translation{subset and '-'}{subset}" / "translation.json"
    for file in (folder / RECORD, translation):
        if file.name in inputs and file.is_file() and sha256(file) != inputs[file.name]["sha256"]:
            yield f"{run.name} is of another {file.name}"
    if translation.is_file():
        inputs = checksummed_json.read(translation, AGAIN, {MADE_FROM: dict})[MADE_FROM]["inputs"]
    model, made = inputs.get(AVERAGE, inputs.get("checkpoint")), average.get(OUTPUTS, {}).get(AVERAGE)
    if model and made and model["sha256"] != made["sha256"]:
        yield f"{run.name} is of another {AVERAGE} than {AVERAGE}.json"
