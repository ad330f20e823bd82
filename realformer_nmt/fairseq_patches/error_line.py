"""How fairseq's commands end by an error, theirs or ours: with one line, as `realformer-nmt` does."""

import logging
import os
import sys
from pathlib import Path
from types import TracebackType

import hydra.core.utils as hydra_runs
from hydra.core.hydra_config import HydraConfig

from realformer_nmt.common import foreign_errors, standard_streams
from realformer_nmt.common.terminal import printable

COMMANDS = ("preprocess", "train", "generate", "interactive", "validate", "eval_lm", "score", "hydra_train")


def command() -> str | None:
    """Which of fairseq's commands this process is, as script (fairseq-train) or as module (fairseq_cli/train.py)."""
    program = Path(sys.argv[0])
    name = program.stem.removeprefix("fairseq-").replace("-", "_")
    ours = program.name.startswith("fairseq-") or program.parent.name == "fairseq_cli"
    return f"fairseq-{name.replace('_', '-')}" if ours and name in COMMANDS else None


def end_with_one_line() -> None:
    """Where this process is one of fairseq's commands."""
    if program := command():
        shorten(program)


def shorten(program: str) -> None:
    """Python's status for an error stays 1. LOGLEVEL=DEBUG, fairseq's own switch, shows the traceback."""
    standard_streams.make_usable()
    if debugging():
        return

    def one_line(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            standard_streams.say(f"{program}: interrupted")
        else:
            words = printable(foreign_errors.words(error))
            standard_streams.say(f"{program}: {words} (LOGLEVEL=DEBUG shows the traceback)")

    sys.excepthook = one_line
    logging.raiseExceptions = False  # where the reader of the log has left, the training goes on
    logging.getLogger("fairseq.dataclass.utils").setLevel(logging.CRITICAL)  # all options, before it raises
    if HydraConfig.initialized():
        leave_errors_to_python()


def debugging() -> bool:
    return os.environ.get("LOGLEVEL", "").upper() == "DEBUG"


def leave_errors_to_python() -> None:
    """hydra prints a traceback of its own and the overrides before it."""
    os.environ["HYDRA_FULL_ERROR"] = "1"

    def result(self: hydra_runs.JobReturn) -> object:
        if isinstance(self._return_value, Exception):
            raise self._return_value
        return self._return_value

    type.__setattr__(hydra_runs.JobReturn, "return_value", property(result, _keep))


def _keep(self: hydra_runs.JobReturn, value: object) -> None:
    self._return_value = value
