"""fp64 for models and searches, and the scores of hypotheses that are read at once, without a search."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.overrides import TorchFunctionMode

PAD, EOS = 1, 2
TOGETHER = 64  # hypotheses
Tokens = tuple[int, ...]


class Doubled(TorchFunctionMode):
    """Give fp64 wherever code asks for fp32 by name, as fairseq's softmax and ours do."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Iterable[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        options = dict(kwargs or {})
        if options.get("dtype") is torch.float32:
            options["dtype"] = torch.float64
        return (Tensor.double if func is Tensor.float else func)(*args, **options)


def total_scores(model: nn.Module, source: Tensor, targets: Iterable[Tokens]) -> dict[Tokens, float]:
    """Return the sum of the log-probabilities of each target, a hypothesis or the beginning of one, by a model in fp64.

    The source, S, is without padding.
    """
    unique = list(dict.fromkeys(targets))
    parts = [unique[at : at + TOGETHER] for at in range(0, len(unique), TOGETHER)]
    return {tokens: score for part in parts for tokens, score in zip(part, _totals(model, source, part), strict=True)}


def _totals(model: nn.Module, source: Tensor, targets: list[Tokens]) -> list[float]:
    target = pad_sequence([torch.tensor(tokens) for tokens in targets], batch_first=True, padding_value=PAD)  # N x T
    previous = torch.cat([target.new_full((len(target), 1), EOS), target[:, :-1]], 1)
    lengths = torch.full((len(target),), len(source))
    with Doubled(), torch.no_grad():
        logits, _ = model(source.expand(len(target), -1), lengths, previous)
        scores = logits.log_softmax(-1).gather(2, target.unsqueeze(2)).squeeze(2)
        totals: list[float] = scores.masked_fill(target.eq(PAD), 0).sum(1).tolist()
    return totals
