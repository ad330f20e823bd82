"""Relative positions: terms that are added to the raw scores of attention."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from realformer_nmt.model.attention.attention_pattern import Pattern, View, required


class RelativePositions(nn.Module):
    """scores_ij + q_i a_c / sqrt(D), c = clip(j - i, -reach, reach).

    There is a trained vector a for each clipped distance, shared by all heads of a layer: the key side of Shaw et al.
    2018, equations 4 and 5, as in ETC (Ainslie et al. 2020).
    """

    def __init__(self, head_width: int, reach: int) -> None:
        super().__init__()
        self.reach = reach
        self.keys = nn.Parameter(torch.empty(2 * reach + 1, head_width))
        nn.init.xavier_uniform_(self.keys)

    def forward(self, scores: list[Tensor], views: Sequence[View], pattern: Pattern, length: int) -> list[Tensor]:
        """Add the terms to the scores of each view of a sequence of that length."""
        distances = pattern.distances(length, self.keys.device)
        terms = [self._terms(view, behind) for view, behind in zip(views, distances, strict=True)]
        return [score + term for score, term in zip(scores, terms, strict=True)]

    def _terms(self, view: View, distances: Tensor) -> Tensor:
        """Return the terms of a view, R x H x T x S, whose rows repeat the N blocks of distances, N x T x S."""
        query = required(view.query)
        indices = distances.clamp(-self.reach, self.reach) + self.reach
        products = (query * self.keys.size(1) ** -0.5) @ self.keys.t()  # R x H x T x distances
        rows = torch.unflatten(products, 0, (-1, len(indices)))
        return rows.gather(-1, indices[:, None].expand(*rows.shape[:-1], -1)).flatten(0, 1)
