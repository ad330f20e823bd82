"""Caches of beam search in tensors of fixed sizes, so that every step does the same to the same addresses.

A step finds its position in a tensor. A position that nobody has written yet is of no beam's lineage, and so hidden.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from realformer_nmt.model.attention.cache import CrossCache, KeysValues, SelfCache, hidden

NOBODY = -1


class StaticLineage(NamedTuple):
    """Record of which beam has written each position of each row, up to a number of positions."""

    step: Tensor  # the position that beams write now: 1
    origin: Tensor  # B x beams x S

    @classmethod
    def build(cls, sentences: int, beams: int, length: int, device: torch.device) -> "StaticLineage":
        origin = torch.full((sentences, beams, length), NOBODY, device=device)
        return cls(torch.zeros(1, dtype=torch.long, device=device), origin)

    def clear(self) -> None:
        self.step.zero_()
        self.origin.fill_(NOBODY)

    def write(self) -> None:
        """Note that each row writes this position itself."""
        sentences, beams, _ = self.origin.shape
        writers = torch.arange(beams, device=self.step.device).expand(sentences, -1)
        self.origin.index_copy_(2, self.step, writers.unsqueeze(-1))

    def mask(self) -> Tensor:
        return hidden(self.origin)

    def advance(self, beams: Tensor) -> None:
        """Go to the next position, where each row continues one of these beams of its sentence, B x beams."""
        self.origin.copy_(self.of(beams))
        self.step.add_(1)

    def of(self, beams: Tensor) -> Tensor:
        """Return the lineages of some beams of each sentence: B x N to B x N x S."""
        return self.origin.gather(1, beams.unsqueeze(-1).expand(-1, -1, self.origin.size(2)))


class StaticCache(SelfCache):
    """Cache of a layer's self-attention with room for all positions of a lineage."""

    def __init__(self, lineage: StaticLineage) -> None:
        self.positions = lineage
        self.buffers = ()

    def extend(self, new: KeysValues, _for_kernel: bool = False) -> KeysValues:
        """Write this position, and return all positions."""
        step, origin = self.positions
        beams, length = origin.shape[1:]
        self.buffers = self.buffers or tuple(
            part.new_zeros(*part.shape[:2], length * beams, part.size(3)) for part in new.parts
        )
        slots = step * beams + torch.arange(beams, device=step.device)
        for buffer, part in zip(self.buffers, new.parts, strict=True):
            buffer.index_copy_(2, slots, torch.nan_to_num(part, 0, 0, 0))  # as in the cache that grows
        return KeysValues(self.buffers, step, beams, new.parts, origin)


class StaticDecoding:
    """Caches of all layers, for sentences with the same number of beams each."""

    def __init__(self, layers: int, lineage: StaticLineage) -> None:
        self.target = [StaticCache(lineage) for _ in range(layers)]
        self.source = [CrossCache() for _ in range(layers)]

    def forget_sources(self) -> None:
        """Let the next step project the sources."""
        for cache in self.source:
            cache.held = None

    def layers(self) -> list[tuple[SelfCache, CrossCache]]:
        return list(zip(self.target, self.source, strict=True))

    def tensors(self) -> list[Tensor]:
        parts = [part for cache in self.source if cache.held for part in cache.held.parts]
        return [*(buffer for cache in self.target for buffer in cache.buffers), *parts]
