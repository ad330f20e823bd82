"""The head that predicts which span of a text answers a question."""

import torch
from torch import Tensor, nn


class SpanHead(nn.Linear):
    """Logits of the answer's start and end for each position (Devlin et al. 2019, section 4.2).

    An answer lies in the context; the first position stands for no answer.
    """

    def __init__(self, width: int) -> None:
        super().__init__(width, 2)
        nn.init.normal_(self.weight, std=0.02)
        nn.init.zeros_(self.bias)

    def logits(self, features: Tensor, lengths: Tensor, context: Tensor) -> Tensor:
        """Return the logits, B x T x 2, of features B x T x C; a context is from `context` to before </s>."""
        indices = torch.arange(features.size(1), device=features.device)
        within = (indices >= context[:, None]) & (indices < lengths[:, None] - 1)
        possible = within | (indices == 0)
        logits: Tensor = self(features)  # B x T x 2
        return logits.float().masked_fill(~possible[..., None], -torch.inf)
