"""The sources of raw attention scores; carry.py passes scores from layer to layer."""

import functools
import math

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from realformer_nmt.common.errors import OptionError
from realformer_nmt.common.requests.option_choice import choose
from realformer_nmt.model.attention.cache import KeysValues
from realformer_nmt.model.attention.score_source import ScoreSource
from realformer_nmt.model.attention.synthesizer import (
    Dense,
    DensePerHead,
    FactorisedDense,
    FactorisedRandom,
    FixedRandom,
    Random,
)


class Dot(ScoreSource):
    """Q K^T / sqrt(D): Vaswani et al. 2017, equation 1."""

    queries = keys = of_memory = True
    tabled = False

    def forward(self, _x: Tensor, query: Tensor, seen: KeysValues) -> Tensor:
        return seen.match(query, self.head_width**-0.5)  # B x H x T x S


def unit_vectors(x: Tensor) -> Tensor:
    """Return x / |x|, in fp32 at least: in fp16 a padded key, all zeros, would be divided by zero."""
    return normalize(x.to(torch.promote_types(x.dtype, torch.float32)), dim=-1).type_as(x)


class QKNorm(ScoreSource):
    """g Q/|Q| (K/|K|)^T, g one trained number per attention: Henry et al. 2020 (2010.04245).

    Checked against CyndxAI/QKNorm. g starts at log2(N^2 - N), N of --score-length; the authors take the 97.5th
    percentile of the training set's lengths. Theirs are smaller initial weights, too, N(0, 2 / 5d). A sum of carried
    scores grows by g per layer: rather carry their mean.
    """

    queries = keys = of_memory = True
    tabled = False

    def __init__(self, heads: int, head_width: int, length: int) -> None:
        super().__init__(heads, head_width, length)
        pairs = max(length, 2) * (max(length, 2) - 1)
        self.scale = nn.Parameter(torch.full((1,), math.log2(pairs)))

    def forward(self, _x: Tensor, query: Tensor, seen: KeysValues) -> Tensor:
        value, key = seen.parts
        units = seen._replace(parts=(value, unit_vectors(key)))
        return units.match(unit_vectors(query), self.scale)  # B x H x T x S


class Mixture(ScoreSource):
    """sum_i softmax(w)_i * scores_i over two or more sources: Synthesizer, section 3.2 ("Random + Vanilla")."""

    def __init__(self, sources: list[ScoreSource]) -> None:
        super().__init__(sources[0].heads, sources[0].head_width, sources[0].length)
        self.queries = any(source.queries for source in sources)
        self.keys = any(source.keys for source in sources)
        self.sources = nn.ModuleList(sources)
        self.mixing = nn.Parameter(torch.zeros(len(sources)))

    def forward(self, x: Tensor, query: Tensor | None, seen: KeysValues) -> Tensor:
        weights = self.mixing.softmax(0)
        scores = [source(x, query, seen) for source in self.sources]
        parts = [weight * score for weight, score in zip(weights, scores, strict=True)]
        mixed: Tensor = functools.reduce(torch.add, parts)
        return mixed


SOURCES: dict[str, type[ScoreSource]] = {
    "dot": Dot,
    "dense": Dense,
    "dense_per_head": DensePerHead,
    "random": Random,
    "fixed_random": FixedRandom,
    "factorised_dense": FactorisedDense,
    "factorised_random": FactorisedRandom,
    "qk_norm": QKNorm,
}


def source_names(option: str) -> list[str]:
    """Return the names in `--score-source`: one, or several different ones joined by +."""
    names = option.split("+")
    for name in names:
        choose("--score-source", name, SOURCES, " (or several of them joined by +, as in random+dot)")
    if len(set(names)) < len(names):
        raise OptionError(f"--score-source {option} names a source twice: name each once")
    return names


def longest(option: str, length: int) -> int | None:
    """Return the longest sequence that a source's tables have room for; None if it has no tables."""
    return length if any(SOURCES[name].tabled for name in source_names(option)) else None


def memory_option(option: str) -> str:
    """Return the option for encoder-decoder attention: the sources that it has, too, or dot."""
    return "+".join(name for name in source_names(option) if SOURCES[name].of_memory) or "dot"


def build_source(option: str, heads: int, head_width: int, length: int) -> ScoreSource:
    sources = [SOURCES[name](heads, head_width, length) for name in source_names(option)]
    return sources[0] if len(sources) == 1 else Mixture(sources)
