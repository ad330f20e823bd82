"""Options that fairseq evaluates as Python, even those of a checkpoint from elsewhere, read as plain values.

They are convolutions, "[(512, 3)] * 9 + [(1024, 3)] * 4", Adam's betas and others. Here they are numbers, words, lists
and sums and multiples of these; nothing is called, looked up or imported.
"""

import ast
import operator
import sys
from collections.abc import Callable
from typing import Any

from realformer_nmt.common.errors import OptionError

OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
LONGEST = 10_000  # characters of a text, and items of a product


def evaluate_plain_values_alone() -> None:
    """Read Adam's betas, convolutions and --model-overrides as plain values: fairseq evaluates them as Python, even
    from a foreign checkpoint (optim/adam.py, models/fconv.py, utils.py)."""
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] in ("fairseq", "fairseq_cli"):
            vars(module)["eval"] = evaluate  # in place of Python's, for the functions of this module


def evaluate(text: str) -> Any:
    try:
        if len(text) > LONGEST:
            raise ValueError("it is too long")
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError) as error:
        raise OptionError(f"{text[:80]!r} is no plain value ({error}): allowed are numbers, words, lists") from error


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        first, second = _value(node.left), _value(node.right)
        if isinstance(node.op, ast.Mult) and _size(first) * _size(second) > LONGEST:
            raise ValueError("it becomes too large")
        return OPERATIONS[type(node.op)](first, second)
    if isinstance(node, ast.List | ast.Tuple):
        items = [_value(item) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items)
    return ast.literal_eval(node)


def _size(value: Any) -> float:
    """Return the factor by which a value enlarges a product: the length of a list or text, the size of a number."""
    return len(value) if isinstance(value, list | tuple | str | bytes) else abs(value)
