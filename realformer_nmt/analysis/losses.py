"""Cross-entropy of a text's targets, padding left out."""

import math

import torch
from torch import nn

from realformer_nmt.analysis.text import Text, to
from realformer_nmt.common.errors import UserError


def words(text: Text) -> int:
    """That are to be predicted, ends included."""
    number = sum(map(text.number, text.batches()))
    if not number:
        raise UserError("no word of what is read is to be predicted, as none is masked: pass more --sentences")
    return number


@torch.no_grad()
def loss(model: nn.Module, text: Text) -> float:
    """In bits a word."""
    place = next(model.parameters()).device
    total = 0.0
    for batch in text.batches():
        total += float(text.lost(model, to(batch, place)))
    return total / words(text) / math.log(2)
