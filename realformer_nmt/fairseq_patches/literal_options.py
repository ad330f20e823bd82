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


# The modules that call eval on what a user or a checkpoint says; those of fairseq's commands are loaded with them
EVALUATING = (
    *("criterions.ctc", "data.audio.raw_audio_dataset", "data.codedataset", "utils"),
    *("optim.adam", "optim.cpu_adam", "optim.adamax", "optim.adafactor", "optim.fused_lamb"),
    *("models.fconv", "models.fconv_lm", "models.fconv_self_att", "models.lightconv_lm", "models.transformer_lm"),
    *("models.hubert.hubert", "models.wav2vec.wav2vec", "models.wav2vec.wav2vec2"),
    "models.speech_to_text.s2t_wav_transformer",
)
COMMANDS = ("fairseq_cli.validate", "fairseq_cli.eval_lm")


def evaluate_plain_values_alone() -> None:
    """Adam's betas, convolutions, --model-overrides: fairseq evaluates them as Python."""
    for name in (*(f"fairseq.{module}" for module in EVALUATING), *COMMANDS):
        if name in sys.modules:
            vars(sys.modules[name])["eval"] = evaluate


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
