"""Errors of fairseq's commands in one line, as those of `realformer-nmt`."""

import logging
import os
import sys
from pathlib import Path
from types import TracebackType

from realformer_nmt.common import error_messages, standard_streams
from realformer_nmt.common.terminal import printable

COMMANDS = ("preprocess", "train", "generate", "interactive", "validate", "eval_lm", "score")


def command() -> str | None:
    """Return the command of fairseq that this process runs, script (fairseq-train) or module (fairseq_cli/train.py)."""
    program = Path(sys.argv[0])
    name = program.stem.removeprefix("fairseq-").replace("-", "_")
    of_fairseq = program.name.startswith("fairseq-") or program.parent.name == "fairseq_cli"
    return f"fairseq-{name.replace('_', '-')}" if of_fairseq and name in COMMANDS else None


def end_with_one_line() -> None:
    """Shorten errors of fairseq's commands to one line: fairseq ends with a traceback."""
    program = command()
    if program:
        shorten(program)


def shorten(program: str) -> None:
    """Print errors in one line. The exit status stays 1; LOGLEVEL=DEBUG, fairseq's own switch, shows the traceback."""
    standard_streams.make_usable()
    if os.environ.get("LOGLEVEL", "").upper() == "DEBUG":
        return

    def one_line(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            standard_streams.say(f"{program}: interrupted")
        else:
            message = printable(error_messages.message_of(error))
            standard_streams.say(f"{program}: {message} (LOGLEVEL=DEBUG shows the traceback)")

    sys.excepthook = one_line
    logging.raiseExceptions = False  # where the reader of the log has ended, the training goes on
    # fairseq.dataclass.utils logs all options before it raises
    logging.getLogger("fairseq.dataclass.utils").setLevel(logging.CRITICAL)
