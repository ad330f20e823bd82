"""Cross-entropy of a text's targets, padding left out."""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from realformer_nmt.analysis.text import Text, to
from realformer_nmt.common.errors import UserError


def summed(logits: Tensor, target: Tensor, pad: int) -> Tensor:
    """In nats, over all words."""
    return cross_entropy(logits.flatten(0, 1).float(), target.flatten(), ignore_index=pad, reduction="sum")


def words(text: Text) -> int:
    """That are to be predicted, ends included."""
    number = sum(int(batch.target.ne(text.pad).sum()) for batch in text.batches())
    if not number:
        raise UserError("no word of what is read is to be predicted, as none is masked: pass more --sentences")
    return number


@torch.no_grad()
def loss(model: nn.Module, text: Text) -> float:
    """In bits a word."""
    place = next(model.parameters()).device
    total = 0.0
    for batch in text.batches():
        batch = to(batch, place)
        total += float(summed(model(**batch.inputs)[0], batch.target, text.pad))
    return total / words(text) / math.log(2)
