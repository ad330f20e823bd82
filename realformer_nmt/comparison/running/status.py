"""`compare --status`: the state of each cell by its own record."""

from collections.abc import Sequence

from tabulate import tabulate

from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.files.records import none_if_unset
from realformer_nmt.common.terminal import printable
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.records.curves import TOO_SHORT, CurvePoint, all_too_short


def table(states: Sequence[CellState]) -> str:
    rows = []
    too_short = all_too_short([(each.state, each.curves.train) for each in states])
    for state in states:
        train, valid = state.curves.train, state.curves.valid
        training = (None if state.unreadable else state.training) or TrainRecord()
        last = train[-1] if train else None
        of = none_if_unset(training.updates)
        update = end(train, valid, of) if training.is_complete else last and last.update
        unfit = state.differences
        evidence = "; ".join(["made with other settings or files", *unfit]) if unfit else state.evidence or ""
        loss = last and none_if_unset(last.nll_loss)
        shown = TOO_SHORT if too_short else printable(state.state)
        rows.append((state.cell.name, shown, update, of, loss, printable(evidence)))
    lines: str = tabulate(rows, ["cell", "state", "update", "of", "loss (bits)", "evidence"], floatfmt=".2f")
    return lines


def end(train: Sequence[CurvePoint], valid: Sequence[CurvePoint], planned: int | None) -> int | None:
    """Return the last update: that of a validation after all else where --patience or its like ended the training.

    Without one a training comes to its planned end, although the last point of its curve may lie before."""
    return valid[-1].update if valid and train and valid[-1].update >= train[-1].update else planned
