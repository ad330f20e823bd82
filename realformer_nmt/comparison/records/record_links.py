"""Check that the records in a cell's folder belong to that cell: each holds the hashes of the outputs before it."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from realformer_nmt.checkpoints.average_record import AverageRecord
from realformer_nmt.checkpoints.belongs import foreign
from realformer_nmt.checkpoints.run_files import AVERAGE, CURVES, RECORD, TRANSLATION_FOLDER
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.files import records
from realformer_nmt.common.files.records import StageRecord
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.common.stages.provenance import is_same
from realformer_nmt.common.stages.stage import AGAIN
from realformer_nmt.comparison.grid.cell import CellFolder, of_subset
from realformer_nmt.comparison.records.cell_record import CellRecord
from realformer_nmt.evaluation.run_record import RunRecord
from realformer_nmt.evaluation.translating import translation_record


def training_of(folder: Path) -> TrainRecord | None:
    """Read the record of the training in a cell's folder, if there is one."""
    path = folder / RECORD
    return records.read(path, TrainRecord, AGAIN) if path.is_file() else None


def average_of(folder: Path) -> AverageRecord | None:
    """Read the record of the average in a cell's folder, if there is one."""
    path = folder / f"{AVERAGE}.json"
    return records.read(path, AverageRecord, AGAIN) if path.is_file() else None


def foreign_records(cell: CellFolder, record: CellRecord, train: TrainRecord, average: AverageRecord) -> list[str]:
    """Return a message per record that is another cell's."""
    messages = of_model(cell, record, train, average)
    for run in sorted(cell.folder.glob("run*.json")):
        messages += of_scores(cell.folder, run, average)
    return messages


def of_model(cell: CellFolder, record: CellRecord, train: TrainRecord, average: AverageRecord) -> list[str]:
    """Return a message per record of the training and its average that is another cell's."""
    return [*of_cell(cell, record, train), *of_training(cell.folder, train), *of_average(average, train)]


def of_cell(cell: CellFolder, record: CellRecord, train: TrainRecord) -> Iterator[str]:
    """Compare the cell with the name in cell.json and the settings in train.json."""
    if record.cell and record.cell != cell.name:
        yield f"{cell.record_file.name} is of cell {record.cell}"
    layers = "-".join(dict.fromkeys(str(number) for number in train.layers if number))  # 6 is 6-6
    trained = {"arch": train.arch, "layers": layers, "seed": train.made_from.settings.get("seed")}
    of_grid = {"arch": cell.family, "layers": "-".join(dict.fromkeys(cell.layers.split("-"))), "seed": cell.seed}
    for name, value in trained.items():
        if value and value != of_grid[name]:
            yield f"{RECORD} is of another cell: {name} {value}"


def of_training(folder: Path, train: TrainRecord) -> Iterator[str]:
    """Compare the curves with the hash that train.json has once the training is complete."""
    recorded, file = train.outputs.get(CURVES), folder / CURVES
    if recorded and file.is_file() and not is_same(file, recorded):
        yield f"{CURVES} is of another training than {RECORD}"


def of_average(average: AverageRecord, train: TrainRecord) -> Iterator[str]:
    """Compare the checkpoints that were averaged with those of the training."""
    for name in foreign(average.members, train):
        yield f"{AVERAGE}.json is of another training than {RECORD}: {name} is none of its checkpoints"


def subset_of(run: Path) -> str:
    """Return the subset that the name of a run.json says."""
    return run.stem.removeprefix("run").removeprefix("-") or "test"


def translation_of(run: Path) -> Path:
    """Return the place of the record of the translation that a run.json is of."""
    return of_subset(run.parent, TRANSLATION_FOLDER, subset_of(run)) / translation_record.RECORD


def missing_translations(runs: Iterable[Path]) -> Iterator[str]:
    """Yield a message for each run.json whose translation is gone."""
    for run in runs:
        translation = translation_of(run)
        inputs = records.read(run, StageRecord, AGAIN).made_from.inputs
        if translation.name in inputs and not translation.is_file():
            yield f"{translation.parent.name}/{translation.name} is gone"


def of_scores(folder: Path, run: Path, average: AverageRecord) -> Iterator[str]:
    """Compare a run's inputs with the files beside it: its translation, or for other tasks the averaged model."""
    scored = records.read(run, RunRecord, AGAIN)
    subset = subset_of(run)
    if scored.subset not in (None, subset):
        yield f"{run.name} is of the subset {scored.subset}"
    inputs = scored.made_from.inputs
    translation = translation_of(run)
    for file in (folder / RECORD, translation):
        if file.name in inputs and file.is_file() and sha256(file) != inputs[file.name].sha256:
            yield f"{run.name} is of another {file.name}"
    if translation.is_file():
        inputs = records.read(translation, StageRecord, AGAIN).made_from.inputs
    model, averaged = inputs.get(AVERAGE, inputs.get("checkpoint")), average.outputs.get(AVERAGE)
    if model and averaged and model.sha256 != averaged.sha256:
        yield f"{run.name} is of another {AVERAGE} than {AVERAGE}.json"
