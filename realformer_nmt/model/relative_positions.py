"""What attention knows of places beside what stands in the embeddings: what is added to its raw scores."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from realformer_nmt.model.attention_pattern import Pattern, View, given


class NoPositions:
    """Nothing: places are in the embeddings alone."""

    none = True

    def __call__(self, scores: list[Tensor], _views: Sequence[View], _pattern: Pattern, _length: int) -> list[Tensor]:
        return scores


class RelativePositions(nn.Module):
    """scores_ij + q_i a_c / sqrt(D), c = clip(j - i, -reach, reach), with a trained a of each clipped distance, for all
    heads of a layer: the key side of Shaw et al. 2018, equations 4 and 5, as in ETC (Ainslie et al. 2020)."""

    none = False  # so that torch's own kernel cannot compute the scores

    def __init__(self, head_width: int, reach: int) -> None:
        super().__init__()
        self.reach = reach
        self.keys = nn.Parameter(torch.empty(2 * reach + 1, head_width))
        nn.init.xavier_uniform_(self.keys)

    def forward(self, scores: list[Tensor], views: Sequence[View], pattern: Pattern, length: int) -> list[Tensor]:
        """Of a sequence of that length, as its pattern lays it out."""
        laid_out = zip(scores, views, pattern.distances(length, self.keys.device), strict=True)
        return [own + self._of(view, distances) for own, view, distances in laid_out]

    def _of(self, view: View, distances: Tensor) -> Tensor:
        """Of a view in which the R rows of all texts take turns in N places: N x T x S to R x H x T x S."""
        query = given(view.query)
        places = distances.clamp(-self.reach, self.reach) + self.reach
        found = (query * self.keys.size(1) ** -0.5) @ self.keys.t()  # R x H x T x distances
        rows = found.unflatten(0, (-1, len(places)))
        return rows.gather(-1, places[:, None].expand(*rows.shape[:-1], -1)).flatten(0, 1)


Positions = NoPositions | RelativePositions
NONE = NoPositions()


def positions(head_width: int, reach: int) -> Positions:
    return RelativePositions(head_width, reach) if reach else NONE
