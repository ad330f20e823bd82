"""Who sees whom in a text: how the queries of self-attention, and what they look at, are laid out.

A pattern answers `views(query, seen, mask)` with one or more views, each an attention of its own, and `join` makes one
sequence of what they give. A block of a sentence counts as a sentence of its own, so that scores are R x H x T x S in
every view.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from realformer_nmt.model.cache import KeysValues


class View(NamedTuple):
    query: Tensor | None  # R x H x T x D, where there is any
    seen: KeysValues  # R x H x S x D
    mask: Tensor | None  # True where a query may not look; broadcasts to R x H x T x S


class Pattern(ABC):
    whole = False  # whether each token sees all, as scores that are read from a table want it

    def __init__(self, window: int = 1, global_tokens: int = 1) -> None:
        self.window, self.global_tokens = window, global_tokens

    @abstractmethod
    def views(self, query: Tensor | None, seen: KeysValues, mask: Tensor | None) -> list[View]: ...

    @abstractmethod
    def join(self, heads: Sequence[Tensor], length: int) -> Tensor:
        """Of each view, R x H x T x D, to B x H x length x D."""

    @abstractmethod
    def distances(self, length: int, device: torch.device) -> list[Tensor]:
        """Of each view, how far behind a query a key stands: N x T x S, where N of its rows are of one text."""

    def matrix(self, probabilities: Sequence[Tensor], seen: KeysValues) -> Tensor:
        """Of each view, to B x H x length x length: what attention makes of unit vectors."""
        value, length = seen.parts[0], seen.length
        units = torch.eye(length).to(value).expand(value.size(0), 1, -1, -1)
        views = self.views(units, KeysValues((units,)), None)
        return self.join([view.seen.mix(own) for view, own in zip(views, probabilities, strict=True)], length)


class Full(Pattern):
    """Each token sees all."""

    whole = True

    def views(self, query: Tensor | None, seen: KeysValues, mask: Tensor | None) -> list[View]:
        return [View(query, seen, mask)]

    def join(self, heads: Sequence[Tensor], _length: int) -> Tensor:
        return heads[0]

    def distances(self, length: int, device: torch.device) -> list[Tensor]:
        places = torch.arange(length, device=device)
        return [(places - places[:, None])[None]]

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
        return heads[0].unflatten(0, (-1, blocks)).transpose(1, 2).flatten(2, 3)[:, :, :length]

    def distances(self, length: int, device: torch.device) -> list[Tensor]:
        return [self._near(length, device)[None]]

    def _near(self, length: int, device: torch.device) -> Tensor:
        """In any block: W x 3W."""
        size = self._size(length)
        places = torch.arange(3 * size, device=device) - size
        return places - places[size : 2 * size, None]

    def _size(self, length: int) -> int:
        return min(self.window, length)

    def _blocks(self, query: Tensor | None) -> Tensor:
        size = self._size(given(query).size(2))
        return _pieces(given(query), size, size)  # B * N x H x W x D

    def _around(self, x: Tensor, value: float = 0) -> Tensor:
        size = self._size(x.size(2))
        return _pieces(x, 3 * size, size, size, value)  # B * N x H x 3W x D

    def _mask(self, padding: Tensor) -> Tensor:
        """Of B x 1 x 1 x S."""
        distance = self._near(padding.size(-1), padding.device)
        hidden = self._around(padding.mT, value=True).mT  # B * N x 1 x 1 x 3W
        return (hidden & (distance != 0)) | (distance.abs() > self.window)


class GlobalLocal(Local):
    """The first tokens of a text see all and are seen by all, the others see their window besides: the global-local
    attention of ETC (Ainslie et al. 2020), whose global input is here the beginning of the text."""

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
            View(given(query)[:, :, :first], seen, padding),
        ]

    def distances(self, length: int, device: torch.device) -> list[Tensor]:
        places, near = torch.arange(length, device=device), self._near(length, device)
        first = places[: self.global_tokens]
        blocks = torch.arange(-(-length // len(near)) * len(near), device=device)
        queries = blocks.view(-1, len(near), 1)  # N x W x 1
        both = torch.cat([first - queries, near.expand(len(queries), -1, -1)], 2)
        return [both, (places - first[:, None])[None]]

    def join(self, heads: Sequence[Tensor], length: int) -> Tensor:
        return torch.cat([heads[1], super().join(heads, length)[:, :, self.global_tokens :]], 2)


def given(query: Tensor | None) -> Tensor:
    if query is None:
        raise TypeError("there are no queries to lay out: build with --score-source dot")
    return query


def _padding(seen: KeysValues, mask: Tensor | None) -> Tensor:
    """Of an encoder's mask, B x 1 x 1 x S; without one nothing is padding."""
    return torch.zeros_like(seen.parts[0][:, :1, :, 0], dtype=torch.bool).unsqueeze(2) if mask is None else mask


def _pieces(x: Tensor, size: int, step: int, before: int = 0, value: float = 0) -> Tensor:
    """Of B x H x T x D the N that begin at -before, step - before, ...: B * N x H x size x D."""
    after = -x.size(2) % step + size - before - step
    pieces = functional.pad(x, (0, 0, before, after), value=value).unfold(2, size, step)  # B x H x N x D x size
    return pieces.permute(0, 2, 1, 4, 3).flatten(0, 1)


FULL = Full()
PATTERNS: dict[str, type[Pattern]] = {"full": Full, "local": Local, "global_local": GlobalLocal}
