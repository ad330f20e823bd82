"""Similarity of the layers of a stack, and their effective rank: representation collapse."""

from collections import defaultdict
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from realformer_nmt.analysis.analysis_record import LayerSimilarity
from realformer_nmt.analysis.measures import layer_outputs
from realformer_nmt.analysis.text import Text

WORDS = 2048  # rows of each layer from which CKA and rank are computed


def effective_rank(rows: Tensor) -> float:
    """Return exp(H(s / sum s)), s the singular values of the centred rows: Roy and Vetterli 2007."""
    singular = torch.linalg.svdvals(centred(rows))
    shares = singular / singular.sum()
    return float(torch.special.xlogy(shares, shares).sum().neg().exp())


def cka(one: Tensor, other: Tensor) -> float:
    """Return |Y'X|^2 / (|X'X| |Y'Y|) of centred rows, Frobenius norms: linear CKA, Kornblith et al. 2019."""
    x, y = centred(one), centred(other)
    return float((y.t() @ x).norm() ** 2 / ((x.t() @ x).norm() * (y.t() @ y).norm()))


def centred(rows: Tensor) -> Tensor:
    rows = rows.double()
    return rows - rows.mean(0)


def measure(model: nn.Module, text: Text) -> dict[str, LayerSimilarity]:
    """Return the figures by side; cosines are the mean over all words, ranks and CKA are of the first words."""
    sums: dict[str, Tensor] = {}
    words: dict[str, int] = defaultdict(int)
    samples: dict[str, list[list[Tensor]]] = defaultdict(list)
    for batch in layer_outputs.per_batch(model, text):
        for side, layers in batch.items():
            cosines = [cosine_similarity(x, y, -1).double().sum() for x, y in pairwise(layers)]
            sums[side] = sums.get(side, 0) + torch.stack(cosines)
            room = max(0, WORDS - words[side])
            words[side] += len(layers[0])
            if room:
                samples[side].append([layer[:room] for layer in layers])
    return {side: side_figures(sums[side] / words[side], samples[side]) for side in samples}


def side_figures(cosines: Tensor, batches: list[list[Tensor]]) -> LayerSimilarity:
    layers = [torch.cat(parts) for parts in zip(*batches, strict=True)]
    return LayerSimilarity(
        cosine=cosines.tolist(),
        effective_rank=[effective_rank(layer) for layer in layers],
        cka=[[cka(one, other) for other in layers] for one in layers],
    )
