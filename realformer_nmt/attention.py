"""Multi-head attention around a score rule: projections, mask, softmax, decoding cache."""

from typing import NamedTuple

import torch
from fairseq.modules import FairseqDropout
from torch import Tensor, nn

from realformer_nmt.scaling import Gains
from realformer_nmt.scores import Carry, ScoreSource

Cache = dict[str, Tensor]


class Attended(NamedTuple):
    output: Tensor  # B x T x C
    total: Tensor | None  # B x H x T x S, what the score carry hands to the layer above
    probabilities: Tensor  # B x H x T x S


class Attention(nn.Module):
    """softmax(mask(carry(source(...)))) V, projected: Vaswani et al. 2017, section 3.2. `depth` counts from 1."""

    def __init__(
        self, source: ScoreSource, carry: Carry, depth: int, *, memory_width: int, dropout: float, gains: Gains
    ) -> None:
        super().__init__()
        width = source.heads * source.head_width
        self.score_source, self.carry, self.depth = source, carry, depth
        self.dropout_module = FairseqDropout(dropout, module_name=type(self).__name__)
        if source.projects:
            self.q_proj = linear(width, width, gains.query_key)
            self.k_proj = linear(memory_width, width, gains.query_key)
        self.v_proj = linear(memory_width, width, gains.value)
        self.out_proj = linear(width, width, gains.output)

    def forward(
        self, x: Tensor, memory: Tensor, mask: Tensor | None, total: Tensor | None, cache: Cache | None = None
    ) -> Attended:
        """mask is True where a query may not look, and broadcasts to B x H x T x S."""
        query = self._heads(self.q_proj(x)) if self.score_source.projects else None
        key, value = self._keys_values(memory, cache)
        length = value.size(2)
        start = length - x.size(1) if cache is not None else 0  # a cached step asks for the last position only
        scores = self.score_source(x, query, key, start, length)
        logits, total = self.carry(scores, total, self.depth)  # B or 1 x H x T x S
        if mask is not None:
            logits = logits.masked_fill(mask, -torch.inf)
        probabilities = logits.softmax(-1, dtype=torch.float32).type_as(value).expand(x.size(0), -1, -1, -1)
        heads = self.dropout_module(probabilities) @ value  # B x H x T x D
        return Attended(self.out_proj(heads.transpose(1, 2).flatten(2)), total, probabilities)

    def _keys_values(self, memory: Tensor, cache: Cache | None) -> tuple[Tensor | None, Tensor]:
        raise NotImplementedError

    def _project(self, memory: Tensor) -> tuple[Tensor | None, Tensor]:
        key = self._heads(self.k_proj(memory)) if self.score_source.projects else None
        return key, self._heads(self.v_proj(memory))

    def _heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.score_source.heads, -1)).transpose(1, 2)  # B x H x T x D


class SelfAttention(Attention):
    """Keys and values are of the sequence itself; the cache holds those of the positions before."""

    def _keys_values(self, memory: Tensor, cache: Cache | None) -> tuple[Tensor | None, Tensor]:
        key, value = self._project(memory)
        if cache is None:
            return key, value
        value = cache["value"] = _append(cache.get("value"), value)
        if key is not None:
            key = cache["key"] = _append(cache.get("key"), key)
        return key, value


class CrossAttention(Attention):
    """Keys and values are of the other sequence, which does not grow: the cache holds them from the first step."""

    def _keys_values(self, memory: Tensor, cache: Cache | None) -> tuple[Tensor | None, Tensor]:
        if cache is None:
            return self._project(memory)
        if "value" not in cache:
            key, cache["value"] = self._project(memory)
            if key is not None:
                cache["key"] = key
        return cache.get("key"), cache["value"]


def linear(inputs: int, outputs: int, gain: float) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight, gain=gain)
    nn.init.zeros_(layer.bias)
    return layer


def _append(past: Tensor | None, new: Tensor) -> Tensor:
    return new if past is None else torch.cat([past, new], dim=2)  # B x H x t x D
