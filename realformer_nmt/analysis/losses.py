"""Cross-entropy of a text's targets, padding left out."""

import math

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from realformer_nmt.analysis.text import Text, to
from realformer_nmt.model.model import TranslationModel


def summed(logits: Tensor, target: Tensor, pad: int) -> Tensor:
    """In nats, over all words."""
    return cross_entropy(logits.flatten(0, 1).float(), target.flatten(), ignore_index=pad, reduction="sum")


def words(text: Text) -> int:
    """Of all targets, ends included."""
    return int(text.lengths()[:, 1].sum())


@torch.no_grad()
def loss(model: TranslationModel, text: Text) -> float:
    """In bits a word."""
    place = next(model.parameters()).device
    total = 0.0
    for batch in text.batches():
        batch = to(batch, place)
        total += float(summed(model(batch.source, None, batch.previous)[0], batch.target, text.pad))
    return total / words(text) / math.log(2)
