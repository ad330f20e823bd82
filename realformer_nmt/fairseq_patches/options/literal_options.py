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

# The modules that call eval on a user's or a checkpoint's text; each is changed where it has been imported
EVALUATING = (
    "criterions.ctc",
    "data.audio.raw_audio_dataset",
    "data.codedataset",
    "models.fconv",
    "models.fconv_lm",
    "models.fconv_self_att",
    "models.hubert.hubert",
    "models.lightconv_lm",
    "models.speech_to_text.s2t_wav_transformer",
    "models.transformer_lm",
    "models.wav2vec.wav2vec",
    "models.wav2vec.wav2vec2",
    "optim.adafactor",
    "optim.adam",
    "optim.adamax",
    "optim.cpu_adam",
    "optim.fused_lamb",
    "utils",
)
COMMANDS = ("fairseq_cli.validate", "fairseq_cli.eval_lm")


def evaluate_plain_values_alone() -> None:
    """Read Adam's betas, convolutions and --model-overrides as plain values: fairseq evaluates them as Python, even
    from a foreign checkpoint (optim/adam.py, models/fconv.py, utils.py)."""
    for name in (*(f"fairseq.{module}" for module in EVALUATING), *COMMANDS):
        if name in sys.modules:
            vars(sys.modules[name])["eval"] = evaluate


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
