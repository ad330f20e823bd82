"""Whether a cell's results are those that the grid asks for now: each stage's own record says what it was made from."""

from dataclasses import asdict

from realformer_nmt.common import outputs
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.folder_lock import alone
from realformer_nmt.common.provenance import differences as changed
from realformer_nmt.common.stage_record import Standing
from realformer_nmt.comparison.grid.cell import Cell, CellStage
from realformer_nmt.comparison.records.cell_record import CellRecord
from realformer_nmt.protocols import training_run


def standing(stage: CellStage) -> Standing:
    """Nothing is done where there is no record, or not what it would be made from."""
    if not stage.record.is_file():
        return Standing()
    try:
        return stage.request.stage().standing()
    except UserError:
        return Standing()


def is_finished(cell: Cell, note: CellRecord) -> bool:
    """A model that failed is not trained on, if the record of its training is there; of the others all is done."""
    failed = note.failed and cell.stages[0].record.is_file()
    return note.final and (failed or all(standing(stage).done for stage in cell.stages))


def differences(cell: Cell) -> list[str]:
    """Of what was made to what is asked, stage by stage, up to the first that is still to be done."""
    told = []
    for stage in cell.stages:
        found = standing(stage)
        told += [f"{stage.name}: {words}" for words in found.differences]
        if not found.done:
            break
    return told + mixed(cell) + judgement(cell)


def mixed(cell: Cell) -> list[str]:
    """Which records of the cell are another's, as far as cell.json can be read."""
    try:
        return CellRecord(cell).breaks
    except UserError:
        return []


def judgement(cell: Cell) -> list[str]:
    try:
        before = CellRecord(cell).content.get("failure")
    except UserError as error:
        return [str(error)]
    return changed({"settings": before}, {"settings": asdict(cell.failure), "inputs": {}}) if before else []


def renew(cell: Cell) -> None:
    """What no longer fits is set aside, its training first, and what follows from it is to be made again."""
    with alone(cell.lock, "runs"):
        first = 0 if mixed(cell) else len(cell.stages)
        cell.note.unlink(missing_ok=True)
        unfit = [place for place, stage in enumerate(cell.stages) if standing(stage).differences]
        for stage in reversed(cell.stages[min([first, *unfit]) :]):
            if stage.name == "train":
                with alone(cell.folder / training_run.LOCK.format(0), "trains"):
                    training_run.set_aside(cell.folder)
            else:
                outputs.void(stage.record, stage.request.subcommand)
