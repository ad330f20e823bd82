"""Check that the records in a cell's folder belong to that cell: each holds the hashes of the outputs before it."""

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
NAME = "cell"  # key of cell.json, absent in records of older versions
Record = dict[str, Any]


def breaks(cell: CellFolder, note: Record) -> list[str]:
    """Return a message per record that is another cell's; `note` is the content of cell.json."""
    try:
        with expected(cell.folder, AGAIN):
            train, average = read(cell.folder / RECORD), read(cell.folder / f"{AVERAGE}.json")
            run_messages: list[str] = []
            for run in sorted(cell.folder.glob("run*.json")):
                run_messages += of_scores(cell.folder, run, average)
            messages = [*of_cell(cell, note, train), *of_training(cell.folder, train), *of_average(average, train)]
            return messages + run_messages
    except UserError as error:
        return [str(error)]


def of_cell(cell: CellFolder, note: Record, train: Record) -> Iterator[str]:
    """Compare the cell with the name in cell.json and the settings in train.json."""
    if note.get(NAME, cell.name) != cell.name:
        yield f"{cell.note.name} is of cell {note[NAME]}"
    layers = "-".join(dict.fromkeys(str(number) for number in train.get("layers", ()) if number))  # 6 is 6-6
    trained = {"arch": train.get("arch"), "layers": layers or None}
    trained["seed"] = train.get(MADE_FROM, {}).get("settings", {}).get("seed")
    of_grid = {"arch": cell.family, "layers": "-".join(dict.fromkeys(cell.layers.split("-"))), "seed": cell.seed}
    for name, value in trained.items():
        if value not in (None, of_grid[name]):
            yield f"{RECORD} is of another cell: {name} {value}"


def of_training(folder: Path, train: Record) -> Iterator[str]:
    """Compare the curves with the hash that train.json has once the training is complete."""
    recorded, file = train.get(OUTPUTS, {}).get(CURVES), folder / CURVES
    if recorded and file.is_file() and fingerprint(file, recorded)["sha256"] != recorded["sha256"]:
        yield f"{CURVES} is of another training than {RECORD}"


def of_average(average: Record, train: Record) -> Iterator[str]:
    """Compare the checkpoints that were averaged with those of the training."""
    for name in strangers(average, train):
        yield f"{AVERAGE}.json is of another training than {RECORD}: {name} is none of its checkpoints"


def of_scores(folder: Path, run: Path, average: Record) -> Iterator[str]:
    """Compare a run's inputs with the files beside it: its translation, or for other tasks the averaged model."""
    scored = checksummed_json.read(run, AGAIN)
    subset = run.stem.removeprefix("run").removeprefix("-")
    if scored.get("subset") not in (None, subset or "test"):
        yield f"{run.name} is of the subset {scored['subset']}"
    inputs = scored.get(MADE_FROM, {}).get("inputs", {})
    translation = folder / f"translation{subset and '-'}{subset}" / "translation.json"
    for file in (folder / RECORD, translation):
        if file.name in inputs and file.is_file() and sha256(file) != inputs[file.name]["sha256"]:
            yield f"{run.name} is of another {file.name}"
    if translation.is_file():
        inputs = checksummed_json.read(translation, AGAIN, {MADE_FROM: dict})[MADE_FROM]["inputs"]
    model, averaged = inputs.get(AVERAGE, inputs.get("checkpoint")), average.get(OUTPUTS, {}).get(AVERAGE)
    if model and averaged and model["sha256"] != averaged["sha256"]:
        yield f"{run.name} is of another {AVERAGE} than {AVERAGE}.json"
