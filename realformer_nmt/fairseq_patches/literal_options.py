"""fairseq takes some options for Python and evaluates them, those that stand in a checkpoint from elsewhere too.

Such as convolutions, "[(512, 3)] * 9 + [(1024, 3)] * 4", and Adam's betas. Here they are numbers, words, lists and
the sums and multiples of them; nothing is called, looked up or imported.
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
LONGEST = 10_000  # characters, and what a product may be


def mend() -> None:
    """`eval` of every module of fairseq's is this one."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ("fairseq", "fairseq_cli") and "eval" not in vars(module):
            vars(module)["eval"] = evaluate


def evaluate(written: str) -> Any:
    try:
        if len(written) > LONGEST:
            raise ValueError("it is too long")
        return _value(ast.parse(written.strip(), mode="eval").body)
    except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError) as error:
        raise OptionError(f"{written[:80]!r} is no plain value ({error}): allowed are numbers, words, lists") from error


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        left, right = _value(node.left), _value(node.right)
        if isinstance(node.op, ast.Mult) and _size(left) * _size(right) > LONGEST:
            raise ValueError("it becomes too large")
        return OPERATIONS[type(node.op)](left, right)
    if isinstance(node, ast.List | ast.Tuple):
        items = [_value(item) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items)
    return ast.literal_eval(node)


def _size(value: Any) -> float:
    """A list of a thousand times a thousand is a million."""
    return len(value) if isinstance(value, list | tuple | str | bytes) else abs(value)
