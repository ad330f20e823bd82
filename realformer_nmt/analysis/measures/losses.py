"""Cross-entropy of a text's targets, padding left out."""

import math

import torch
from torch import nn

from realformer_nmt.analysis.text import Text, to
from realformer_nmt.common.errors import UserError


def count_targets(text: Text) -> int:
    """Count the tokens to be predicted, end symbols included."""
    number = sum(map(text.target_count, text.batches()))
    if not number:
        raise UserError("these sentences have no masked token, so there is nothing to predict: pass more --sentences")
    return number


@torch.no_grad()
def loss(model: nn.Module, text: Text) -> float:
    """Return the mean cross-entropy in bits per token."""
    device = next(model.parameters()).device
    total = 0.0
    for batch in text.batches():
        total += float(text.summed_loss(model, to(batch, device)))
    return total / count_targets(text) / math.log(2)
