"""Comparison of a cell's results with what the grid asks for now; each stage's record has its settings and inputs."""

from dataclasses import asdict

from realformer_nmt.common import outputs
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.folder_lock import alone
from realformer_nmt.common.provenance import differences as changed
from realformer_nmt.common.records import Origin
from realformer_nmt.common.stage_record import Standing
from realformer_nmt.comparison.grid.cell import Cell, CellStage
from realformer_nmt.comparison.records.cell_record import CellRecord
from realformer_nmt.protocols import training_run


def status_of(stage: CellStage) -> Standing:
    """Return whether a stage is done and what has changed since; without its record or an input it is not done."""
    if not stage.record.is_file():
        return Standing()
    try:
        return stage.request.stage().standing()
    except UserError:
        return Standing()


def is_finished(cell: Cell, note: CellRecord) -> bool:
    """Tell whether nothing is left to run: all stages are done, or the model failed and its training is recorded."""
    failed = note.failed and cell.stages[0].record.is_file()
    return note.final and (failed or all(status_of(stage).done for stage in cell.stages))


def differences(cell: Cell) -> list[str]:
    """Return what differs from the grid, stage by stage, up to the first stage that is still to be done."""
    lines = []
    for stage in cell.stages:
        status = status_of(stage)
        lines += [f"{stage.name}: {difference}" for difference in status.differences]
        if not status.done:
            break
    return lines + foreign_records(cell) + failure_differences(cell)


def foreign_records(cell: Cell) -> list[str]:
    """Return a message per record of another cell; none where cell.json cannot be read."""
    try:
        return CellRecord(cell).breaks
    except UserError:
        return []


def failure_differences(cell: Cell) -> list[str]:
    """Return the settings of `failure` that have changed since the cell was run."""
    try:
        before = CellRecord(cell).note.failure
    except UserError as error:
        return [str(error)]
    return changed(Origin(settings=asdict(before)), Origin(settings=asdict(cell.failure))) if before else []


def renew(cell: Cell) -> None:
    """Set aside the results that no longer fit the grid, and those that were made from them."""
    with alone(cell.lock, "runs"):
        first = 0 if foreign_records(cell) else len(cell.stages)
        cell.note.unlink(missing_ok=True)
        unfit = [index for index, stage in enumerate(cell.stages) if status_of(stage).differences]
        for stage in reversed(cell.stages[min([first, *unfit]) :]):
            if stage.name == "train":
                with alone(cell.folder / training_run.LOCK.format(0), "trains"):
                    training_run.set_aside(cell.folder)
            else:
                outputs.void(stage.record, stage.request.subcommand)
