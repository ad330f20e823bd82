"""Which span of a text answers a question."""

import torch
from torch import Tensor, nn


class SpanHead(nn.Linear):
    """Two numbers a position, the logits of the answer's start and end (Devlin et al. 2019, section 4.2). Possible are
    the positions of the context, and the first one, which stands for no answer."""

    def __init__(self, width: int) -> None:
        super().__init__(width, 2)
        nn.init.normal_(self.weight, std=0.02)
        nn.init.zeros_(self.bias)

    def logits(self, features: Tensor, lengths: Tensor, context: Tensor) -> Tensor:
        """Of features B x T x C, in texts of `lengths` whose context begins at `context` and ends before </s>."""
        places = torch.arange(features.size(1), device=features.device)
        within = (places >= context[:, None]) & (places < lengths[:, None] - 1)
        possible = within | (places == 0)
        return self(features).float().masked_fill(~possible[..., None], -torch.inf)  # B x T x 2
