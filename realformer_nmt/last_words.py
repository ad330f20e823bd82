"""How fairseq's commands end by an error of ours: with the one line that `realformer-nmt` would show."""

import os
import sys
from pathlib import Path
from types import TracebackType

from realformer_nmt.errors import declared, one_line

COMMANDS = ("preprocess", "train", "generate", "interactive", "validate", "eval_lm", "score", "hydra_train")


def command() -> str | None:
    """Which of fairseq's commands this process is, as script (fairseq-train) or as module (fairseq_cli/train.py)."""
    program = Path(sys.argv[0])
    name = program.stem.removeprefix("fairseq-").replace("-", "_")
    ours = program.name.startswith("fairseq-") or program.parent.name == "fairseq_cli"
    return f"fairseq-{name.replace('_', '-')}" if ours and name in COMMANDS else None


def shorten(program: str) -> None:
    """Python's status for an error stays 1. LOGLEVEL=DEBUG, fairseq's own switch, shows the traceback."""
    original = sys.excepthook

    def last_words(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        ours = declared(error)
        if ours is None or os.environ.get("LOGLEVEL", "").upper() == "DEBUG":
            original(kind, error, trace)
        else:
            print(f"{program}: {one_line(ours)} (LOGLEVEL=DEBUG shows the traceback)", file=sys.stderr)

    sys.excepthook = last_words
