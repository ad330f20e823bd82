"""The model of a run: its checkpoint, and the data that it was trained on."""

from pathlib import Path

from realformer_nmt.checkpoints import run_records
from realformer_nmt.common.errors import UserError

IN_A_RUN = ("average.pt", "checkpoints/checkpoint_last.pt", "checkpoint_last.pt")  # the first that is there


def checkpoint(given: Path) -> Path:
    """Of a run's folder its average, or else its last state; a file that `average` has made is as it was made."""
    if not given.is_dir():
        run_records.check_average(given)
        return given
    found = next((given / name for name in IN_A_RUN if (given / name).is_file()), None)
    if found is None:
        raise UserError(f"{given} holds no model: there is none of {', '.join(IN_A_RUN)}; train first, or name a file")
    run_records.check_average(found, given / run_records.TRAINING)
    return found


def named(word: str) -> Path:
    """By a word of a command line."""
    return checkpoint(Path(word))


def trained_on(path: Path) -> Path:
    """The data-bin that a checkpoint names."""
    from realformer_nmt.checkpoints import layout  # here: who names a run does not wait for torch

    data = layout.setting(layout.without_weights(path), "task", "data")
    if not isinstance(data, str) or not Path(data).is_dir():
        told = f"was trained on {data}, which is not there" if isinstance(data, str) else "does not name its data"
        raise UserError(f"{path} {told}: pass --data DATA-BIN, in Python data=")
    return Path(data)
