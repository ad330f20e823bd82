"""Attention over held-out text, head by head: entropy, divergence from the head above, where it looks.

The text is read as in training: every word is predicted from the words before it. Padding is ignored.
"""

import math

import torch
from msgspec.structs import replace
from torch import Tensor
from tqdm import tqdm

from realformer_nmt.analysis import hooks
from realformer_nmt.analysis.analysis_record import AttentionFigures, ChainFigures, HeadStatistics
from realformer_nmt.analysis.hooks import CHAINS, CROSS
from realformer_nmt.analysis.loaded_model import LoadedModel
from realformer_nmt.analysis.measures import alignment
from realformer_nmt.analysis.measures.histogram import Distribution
from realformer_nmt.analysis.measures.token_classes import TokenClasses
from realformer_nmt.analysis.text import Batch, Text, device_of
from realformer_nmt.checkpoints.inspection import Model
from realformer_nmt.common.terminal import printable

UNIT = "bits"
LONGEST = 4096  # tokens: entropies reach up to log2 of it, 12 bits
MOST = 0.5  # a head counts as looking at a kind of position if more than this share of its attention goes there


def entropy(probabilities: Tensor) -> Tensor:
    """Return -sum p log2 p over the last dimension."""
    nats: Tensor = -torch.special.xlogy(probabilities, probabilities).sum(-1)
    return nats / math.log(2)


def divergence(one: Tensor, other: Tensor) -> Tensor:
    """Return the Jensen-Shannon divergence, H((p + q) / 2) - (H(p) + H(q)) / 2 in bits, from 0 to 1 (Lin 1991)."""
    between = entropy((one + other) / 2) - (entropy(one) + entropy(other)) / 2
    return between.clamp(0, 1)  # rounding errors


class Chain:
    """Measurements of one chain of attentions; only the attention of the layer below is stored."""

    def __init__(self, layers: int, heads: int) -> None:
        self.layers, self.heads = layers, heads
        self.entropy = [Distribution(heads, math.log2(LONGEST)) for _ in range(layers)]
        self.divergence = [Distribution(heads, 1.0) for _ in range(layers - 1)]
        self.looks: dict[str, Tensor] = {}  # by kind of position, sums over queries, layers x heads
        self.queries = 0
        self._below: Tensor | None = None

    def add(self, layer: int, probabilities: Tensor, queries: Tensor, looks: dict[str, Tensor]) -> None:
        """Add a batch in a layer, counted from 1: probabilities B x H x T x S; queries B x T, the words that attend."""
        rows = probabilities.transpose(1, 2)[queries]  # N x H x S
        self.entropy[layer - 1].add(entropy(rows).t())
        if layer == 1:
            self.queries += len(rows)
        elif self._below is not None:
            self.divergence[layer - 2].add(divergence(self._below, rows).t())
        self._below = rows if layer < self.layers else None
        for name, mask in looks.items():
            share = (probabilities * mask.unsqueeze(-3)).sum(-1)  # B x H x T
            sums = self.looks.setdefault(name, torch.zeros(self.layers, self.heads, dtype=torch.float64))
            sums[layer - 1] += share.transpose(1, 2)[queries].double().sum(0).cpu()

    def shares(self) -> dict[str, Tensor]:
        """Return the share of each head's attention by kind of position, layers x heads."""
        return {name: sums / self.queries for name, sums in self.looks.items()}

    def record(self) -> ChainFigures:
        shares = self.shares()
        return ChainFigures(
            queries=self.queries,
            entropy=summary(self.entropy),
            divergence=summary(self.divergence),
            looks={name: share.tolist() for name, share in shares.items()},
            share_of_heads={name: float((share > MOST).double().mean()) for name, share in shares.items()},
        )


def summary(layers: list[Distribution]) -> HeadStatistics:
    return HeadStatistics(mean=[layer.mean().tolist() for layer in layers])


class Heads:
    """Measurements of all chains of a model, and of the alignment if there is one."""

    def __init__(
        self, sizes: dict[str, tuple[int, int]], words: TokenClasses, links: list[alignment.Links] | None
    ) -> None:
        self.chains = {name: Chain(*size) for name, size in sizes.items()}
        self.words, self.links = words, links
        self.aligned = alignment.Counts(*sizes[CROSS]) if links else None
        self._batch: Batch  # set by `begin`, as are the masks of its positions
        self._looks: dict[str, dict[str, Tensor]]

    def begin(self, batch: Batch) -> None:
        self._batch = batch
        self._looks = self.words.looks(batch)

    def see(self, chain: str, layer: int, probabilities: Tensor) -> None:
        read = self._batch.read[CHAINS[chain][0]]
        self.chains[chain].add(layer, probabilities, read.ne(self.words.pad), self._looks[chain])
        if self.aligned and self.links and chain == CROSS:
            for row, index in enumerate(self._batch.indices):
                if self.words.shows_words(self._batch, row):
                    source, target = self.words.subwords(self._batch, row)
                    self.aligned.add(layer, probabilities[row], source, target, self.links[index])

    def record(self) -> AttentionFigures:
        chains = {name: chain.record() for name, chain in self.chains.items()}
        if self.aligned:
            chains[CROSS] = replace(chains[CROSS], alignment_error_rate=self.aligned.rates())
        return AttentionFigures(unit=UNIT, chains=chains)


def measure(subject: LoadedModel[Model], text: Text, links: list[alignment.Links] | None) -> Heads:
    """Measure the heads in one pass over the text, with a progress bar on a terminal."""
    model = subject.model
    device = device_of(model)
    sizes = {name: (len(parts), parts[0].score_source.heads) for name, parts in hooks.chains(model).items()}
    heads = Heads(sizes, TokenClasses(text.dictionaries, device), links)
    bar = tqdm(desc=printable(f"attention of {subject.name}"), total=len(text.indices), unit="sentence", disable=None)
    with bar, torch.no_grad(), hooks.attention(model, heads.see):
        for batch in text.batches(device):
            heads.begin(batch)
            model(**batch.inputs, features_only=True)
            bar.update(len(batch.indices))
    return heads
