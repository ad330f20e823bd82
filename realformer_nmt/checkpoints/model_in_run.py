"""The model in a run's folder: its checkpoint, and the data that it was trained on."""

from pathlib import Path

from realformer_nmt.checkpoints import belongs
from realformer_nmt.checkpoints.run_files import AVERAGE, CHECKPOINTS, LAST, RECORD
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.safe_names import path_option

IN_A_RUN = (AVERAGE, f"{CHECKPOINTS}/{LAST}", LAST)  # the first that is there


def checkpoint(path: Path) -> Path:
    """Return the average in a run's folder, or else its last state; a file is returned as it is.

    An average that was changed since it was made is refused.
    """
    if not path.is_dir():
        belongs.check_average(path)
        return path
    file = next((path / name for name in IN_A_RUN if (path / name).is_file()), None)
    if file is None:
        raise UserError(f"{path} holds no model: there is none of {', '.join(IN_A_RUN)}; train first, or name a file")
    belongs.check_average(file, path / RECORD)
    return file


def parse_checkpoint(argument: str) -> Path:
    """Return the checkpoint for an argument of the command line: a file, or a run's folder."""
    return checkpoint(path_option(argument))


def trained_on(path: Path) -> Path:
    """Return the data-bin that a checkpoint was trained on."""
    from realformer_nmt.checkpoints.files import checkpoint_fields  # late: it imports torch

    data = checkpoint_fields.setting(checkpoint_fields.without_weights(path), "task", "data")
    if not isinstance(data, str) or not Path(data).is_dir():
        problem = f"was trained on {data}, which is not there" if isinstance(data, str) else "does not name its data"
        raise UserError(f"{path} {problem}: pass --data DATA-BIN, in Python data=")
    return Path(data)
