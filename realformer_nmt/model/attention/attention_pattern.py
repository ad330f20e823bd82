"""Attention patterns: which tokens of a text each token of self-attention sees.

`views(query, seen, mask)` splits attention into one or more views, each computed separately, and `join` puts their
results together to one sequence. A block of a sentence counts as a separate sentence, so scores are R x H x T x S in
every view.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from realformer_nmt.model.attention.cache import KeysValues


class View(NamedTuple):
    """Queries, and the keys and values that they see."""

    query: Tensor | None  # R x H x T x D; None if the scores need none
    seen: KeysValues  # R x H x S x D
    mask: Tensor | None  # True where a query may not look; broadcasts to R x H x T x S


class Pattern(ABC):
    """Base of all attention patterns."""

    whole = False  # whether each token sees all, which scores that are read from a table need

    def __init__(self, window: int = 1, global_tokens: int = 1) -> None:
        self.window, self.global_tokens = window, global_tokens

    @abstractmethod
    def views(self, query: Tensor | None, seen: KeysValues, mask: Tensor | None) -> list[View]: ...

    def queries(self, x: Tensor) -> list[Tensor]:
        """Lay out a vector per token, B x H x length x D, as each view has its queries."""
        return [required(view.query) for view in self.views(x, KeysValues((x,)), None)]

    @abstractmethod
    def join(self, heads: Sequence[Tensor], length: int) -> Tensor:
        """Join the results of all views, R x H x T x D each, to B x H x length x D."""

    @abstractmethod
    def distances(self, length: int, device: torch.device) -> list[Tensor]:
        """Return for each view how far each key is behind each query: N x T x S, with N rows per text."""

    def matrix(self, probabilities: Sequence[Tensor], seen: KeysValues) -> Tensor:
        """Join the probabilities of all views to B x H x length x length, by attention to unit vectors."""
        value, length = seen.parts[0], seen.length
        units = torch.eye(length).to(value).expand(value.size(0), 1, -1, -1)
        views = self.views(units, KeysValues((units,)), None)
        heads = [view.seen.mix(share) for view, share in zip(views, probabilities, strict=True)]
        return self.join(heads, length)


class Full(Pattern):
    """Pattern in which each token sees all."""

    whole = True

    def views(self, query: Tensor | None, seen: KeysValues, mask: Tensor | None) -> list[View]:
        return [View(query, seen, mask)]

    def join(self, heads: Sequence[Tensor], _length: int) -> Tensor:
        return heads[0]

    def distances(self, length: int, device: torch.device) -> list[Tensor]:
        indices = torch.arange(length, device=device)
        return [(indices - indices[:, None])[None]]

    def matrix(self, probabilities: Sequence[Tensor], _seen: KeysValues) -> Tensor:
        return probabilities[0]


class Local(Pattern):
    """Token i sees token j where |i - j| <= window: the long-to-long attention of ETC (Ainslie et al. 2020).

    A block of `window` queries looks at itself and at the blocks on both sides, so time and memory grow with length x
    window. Padding sees itself: nobody sees it, but a row that sees nothing has no softmax.
    """

    def views(self, query: Tensor | None, seen: KeysValues, mask: Tensor | None) -> list[View]:
        around = tuple(map(self._around, seen.parts))
        return [View(self._blocks(query), KeysValues(around), self._mask(_padding(seen, mask)))]

    def join(self, heads: Sequence[Tensor], length: int) -> Tensor:
        blocks = -(-length // self._size(length))
        return torch.unflatten(heads[0], 0, (-1, blocks)).transpose(1, 2).flatten(2, 3)[:, :, :length]

    def distances(self, length: int, device: torch.device) -> list[Tensor]:
        return [self._near(length, device)[None]]

    def _near(self, length: int, device: torch.device) -> Tensor:
        """Return the distances within a block of queries and its surroundings: W x 3W."""
        size = self._size(length)
        indices = torch.arange(3 * size, device=device) - size
        return indices - indices[size : 2 * size, None]

    def _size(self, length: int) -> int:
        return min(self.window, length)

    def _blocks(self, query: Tensor | None) -> Tensor:
        query = required(query)
        size = self._size(query.size(2))
        return _blocks_of(query, size, size)  # B * N x H x W x D

    def _around(self, x: Tensor, value: float = 0) -> Tensor:
        size = self._size(x.size(2))
        return _blocks_of(x, 3 * size, size, before=size, value=value)  # B * N x H x 3W x D

    def _mask(self, padding: Tensor) -> Tensor:
        """Return the mask of all blocks, for padding B x 1 x 1 x S."""
        distance = self._near(padding.size(-1), padding.device)
        hidden = self._around(padding.mT, value=True).mT  # B * N x 1 x 1 x 3W
        return (hidden & (distance != 0)) | (distance.abs() > self.window)


class GlobalLocal(Local):
    """Global-local attention of ETC (Ainslie et al. 2020), with the first tokens of the text as its global input.

    The first tokens see all and are seen by all; the others see them and their window.
    """

    def views(self, query: Tensor | None, seen: KeysValues, mask: Tensor | None) -> list[View]:
        first, padding = self.global_tokens, _padding(seen, mask)
        among_first = torch.arange(seen.length, device=padding.device) < first
        near = self._mask(padding | among_first)  # B * N x 1 x W x 3W

        def shared(x: Tensor) -> Tensor:
            return x[:, :, :first].repeat_interleave(len(near) // len(padding), 0)

        both = tuple(torch.cat([shared(part), self._around(part)], 2) for part in seen.parts)
        hidden = shared(padding.mT).mT.expand(-1, -1, near.size(2), -1)
        return [
            View(self._blocks(query), KeysValues(both), torch.cat([hidden, near], -1)),
            View(required(query)[:, :, :first], seen, padding),
        ]

    def distances(self, length: int, device: torch.device) -> list[Tensor]:
        indices, near = torch.arange(length, device=device), self._near(length, device)
        first = indices[: self.global_tokens]
        blocks = torch.arange(-(-length // len(near)) * len(near), device=device)
        queries = blocks.view(-1, len(near), 1)  # N x W x 1
        both = torch.cat([first - queries, near.expand(len(queries), -1, -1)], 2)
        return [both, (indices - first[:, None])[None]]

    def join(self, heads: Sequence[Tensor], length: int) -> Tensor:
        return torch.cat([heads[1], super().join(heads, length)[:, :, self.global_tokens :]], 2)


def required(query: Tensor | None) -> Tensor:
    """Return the queries; refuse scores that have none."""
    if query is None:
        raise TypeError("there are no queries to lay out: build with --score-source dot")
    return query


def _padding(seen: KeysValues, mask: Tensor | None) -> Tensor:
    """Return the encoder's mask, B x 1 x 1 x S; without one nothing is padding."""
    if mask is not None:
        return mask
    return torch.zeros_like(seen.parts[0][:, :1, :, 0], dtype=torch.bool).unsqueeze(2)


def _blocks_of(x: Tensor, size: int, step: int, before: int = 0, value: float = 0) -> Tensor:
    """Cut B x H x T x D into N blocks, which start at -before, step - before, ...: B * N x H x size x D."""
    after = -x.size(2) % step + size - before - step
    blocks = functional.pad(x, (0, 0, before, after), value=value).unfold(2, size, step)  # B x H x N x D x size
    return blocks.permute(0, 2, 1, 4, 3).flatten(0, 1)


FULL = Full()
PATTERNS: dict[str, type[Pattern]] = {"full": Full, "local": Local, "global_local": GlobalLocal}
