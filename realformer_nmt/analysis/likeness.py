"""How alike the layers of a stack are, and of how many dimensions: representation collapse."""

from collections import defaultdict
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from realformer_nmt.analysis import readouts
from realformer_nmt.analysis.text import Text

WORDS = 2048  # that CKA and rank are of: so many rows of each layer are kept


def effective_rank(rows: Tensor) -> float:
    """exp(H(s / sum s)), s the singular values of the centred rows: Roy and Vetterli 2007."""
    singular = torch.linalg.svdvals(centred(rows))
    shares = singular / singular.sum()
    return float(torch.special.xlogy(shares, shares).sum().neg().exp())


def cka(one: Tensor, other: Tensor) -> float:
    """|Y'X|^2 / (|X'X| |Y'Y|) of centred rows, Frobenius norms: linear CKA, Kornblith et al. 2019."""
    x, y = centred(one), centred(other)
    return float((y.t() @ x).norm() ** 2 / ((x.t() @ x).norm() * (y.t() @ y).norm()))


def centred(rows: Tensor) -> Tensor:
    rows = rows.double()
    return rows - rows.mean(0)


def measure(model: nn.Module, text: Text) -> dict[str, Any]:
    """By side: `cosine` of each layer with the one below, the mean over all words; `effective_rank` of each layer from
    0; `cka` of all pairs of layers from 0."""
    sums: dict[str, Tensor] = {}
    words: dict[str, int] = defaultdict(int)
    kept: dict[str, list[list[Tensor]]] = defaultdict(list)
    for found in readouts.of(model, text):
        for side, layers in found.items():
            cosines = [cosine_similarity(x, y, -1).double().sum() for x, y in pairwise(layers)]
            sums[side] = sums.get(side, 0) + torch.stack(cosines)
            room = max(0, WORDS - words[side])
            words[side] += len(layers[0])
            if room:
                kept[side].append([layer[:room] for layer in layers])
    return {side: of_side(sums[side] / words[side], kept[side]) for side in kept}


def of_side(cosines: Tensor, batches: list[list[Tensor]]) -> dict[str, Any]:
    layers = [torch.cat(parts) for parts in zip(*batches, strict=True)]
    return {
        "cosine": cosines.tolist(),
        "effective_rank": [effective_rank(layer) for layer in layers],
        "cka": [[cka(one, other) for other in layers] for one in layers],
    }
