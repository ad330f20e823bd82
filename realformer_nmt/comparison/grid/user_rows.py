"""Rows of a --user-dir, and the trainings of a grid that name one: the others are what they are without it."""

from fairseq.registry import REGISTRIES

from realformer_nmt.checkpoints.files.allowed_components import PACKAGES, own_components
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.corpora.subwords.subword_methods import METHODS
from realformer_nmt.model.presets import FAMILIES, FAMILIES_BY_IDEA
from realformer_nmt.protocols import fairseq_command
from realformer_nmt.protocols.train import TrainRequest
from realformer_nmt.tasks import SHIPPED, TASKS


def needs(cell: Cell) -> bool:
    """Tell whether a cell's training names a row of a --user-dir, or was recorded with one by an earlier version."""
    train = cell.requests(TrainRequest)[0]
    prepared = fairseq_command.preparation(train)
    protocol = fairseq_command.load_protocol(train, prepared)
    names = [train.arch, protocol.task, prepared.subwords, *protocol.train.values(), *train.flags]
    return not names_of_users().isdisjoint(map(str, names)) or is_recorded(cell)


def names_of_users() -> set[str]:
    """Return the names of families, tasks, losses, optimizers, schedules and subword methods that are the user's."""
    methods = {name for name, row in METHODS.items() if row.encoder.partition(".")[0] not in PACKAGES}
    shipped = {name for rows in FAMILIES_BY_IDEA.values() for name in rows}
    return (
        (FAMILIES.keys() - shipped)
        | (TASKS.keys() - SHIPPED)
        | methods.union(*(own_components(group) for group in ("task", *REGISTRIES)))
    )


def is_recorded(cell: Cell) -> bool:
    """Tell whether train.json names a --user-dir."""
    record = cell.stages[0].record
    if not record.is_file():
        return False
    try:
        return bool(records.read(record, TrainRecord, "").made_from.settings.get("user_dir"))
    except UserError:  # which the comparison with the grid reports
        return False
