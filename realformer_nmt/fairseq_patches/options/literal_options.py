"""Options that fairseq evaluates as Python, such as Adam's betas, even those of a checkpoint from elsewhere, read as
plain values: numbers, words and lists. Nothing is called, looked up or imported."""

import ast
import sys
from typing import Any

from realformer_nmt.common.errors import OptionError

LONGEST = 10_000  # characters of a text


def evaluate_plain_values_alone() -> None:
    """Read Adam's betas, lists and --model-overrides as plain values: fairseq evaluates them as Python, even from a
    foreign checkpoint (optim/adam.py, utils.py)."""
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] in ("fairseq", "fairseq_cli"):
            vars(module)["eval"] = evaluate  # in place of Python's, for the functions of this module


def evaluate(text: str) -> Any:
    try:
        if len(text) > LONGEST:
            raise ValueError("it is too long")
        return ast.literal_eval(text.strip())
    except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError) as error:
        raise OptionError(f"{text[:80]!r} is no plain value ({error}): allowed are numbers, words, lists") from error
