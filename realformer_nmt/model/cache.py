"""What beam search keeps from step to step, so that a step costs its own position only, and no beam is ever copied.

Each sentence of the source has as many beams: row r is of sentence r // beams. What a beam has written stays in its
place, whichever beams go on from there; a lineage says where that is.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from realformer_nmt.kernels.native.pages import in_large_pages
from realformer_nmt.model.beam_order import OrderReader

POSITIONS = 32  # positions there is room for at first; it doubles when they are full


class KeysValues(NamedTuple):
    """Values, and keys where the scores take any, that a sentence's queries look at: B x H x S * beams x D each.

    With several beams the queries are theirs, all for the last position, and see what any of them has written at each.
    """

    parts: tuple[Tensor, ...]
    start: int = 0  # position of the first query
    beams: int = 1
    own: tuple[Tensor, ...] = ()  # each beam's last position alone, as it is: where parts grow, they are finite
    origin: Tensor | None = None  # the lineage's: B x beams x S

    @property
    def length(self) -> int:
        return self.parts[0].size(2) // self.beams

    def match(self, query: Tensor) -> Tensor:
        return query @ self.parts[1].transpose(-1, -2)  # B x H x T x S * beams

    def place(self, scores: Tensor) -> Tensor:
        """What is known of a position counts for all that is written there: _ x S to _ x S * beams."""
        return scores if self.beams == 1 else scores.repeat_interleave(self.beams, -1)

    def mix(self, probabilities: Tensor) -> Tensor:
        return self._spoil(probabilities @ self.parts[0])  # B x H x T x D

    def attend(self, query: Tensor, mask: Tensor | None, dropout: float) -> Tensor:
        value, key = self.parts
        look = None if mask is None else ~mask
        return self._spoil(scaled_dot_product_attention(query, key, value, look, dropout))  # B x H x T x D

    def _spoil(self, heads: Tensor) -> Tensor:
        """A beam that overflows is lost, and it alone: 0 times what is not finite is NaN."""
        return torch.addcmul(heads, self.own[0], self.own[-1], value=0) if self.own else heads


class Lineage:
    """Of every row and position, which beam of its sentence has written it."""

    def __init__(self, beams: int) -> None:
        self.beams, self.length = beams, 0
        self.origin: Tensor | None = None  # B x beams x S, of more beams than one

    def advance(self, rows: int, device: torch.device) -> None:
        """Each row writes a position itself."""
        self.length += 1
        if self.beams > 1:
            own = torch.arange(self.beams, device=device).expand(rows // self.beams, -1).unsqueeze(-1)
            self.origin = own if self.origin is None else torch.cat([self.origin, own], -1)

    def mask(self) -> Tensor | None:
        """Where a beam may not look, at what others have written: B x 1 x beams x S * beams."""
        if self.origin is None:
            return None
        every = torch.arange(self.beams, device=self.origin.device)
        return (self.origin.unsqueeze(-1) != every).flatten(-2).unsqueeze(1)

    def reorder(self, order: Tensor) -> None:
        if self.origin is not None:
            self.origin = self.origin.flatten(0, 1).index_select(0, order).unflatten(0, (-1, self.beams))

    def end(self) -> None:
        """From now on each row is a sentence with one beam."""
        self.beams, self.origin = 1, None


class SelfCache:
    """Self-attention's in one layer: grown by a position a step, in place, so no gradient passes through it."""

    def __init__(self, lineage: Lineage) -> None:
        self.lineage = lineage
        self.buffers: tuple[Tensor, ...] = ()  # values, keys: B x H x at least S * beams x D

    def extend(self, new: KeysValues, apart: bool = False) -> KeysValues:
        """`apart`: for our kernel, which reads of each beam its own history alone, and writes what is new itself."""
        beams, length = self.lineage.beams, self.lineage.length
        end, written = length * beams, [part.detach() for part in new.parts]
        self.buffers = self.buffers or tuple(part[:, :, :0] for part in written)
        if end > self.buffers[0].size(2):
            self.buffers = tuple(
                _enlarged(buffer, POSITIONS * beams, at > 0, apart) for at, buffer in enumerate(self.buffers)
            )
        for buffer, part in zip(self.buffers, written, strict=True):
            if not apart:  # or 0 times it is NaN for all beams
                torch.nan_to_num(part, 0, 0, 0, out=buffer[:, :, end - beams : end])
        seen = tuple(buffer[:, :, :end] for buffer in self.buffers)
        return KeysValues(seen, length - 1, beams, tuple(written), self.lineage.origin)

    @property
    def sentences(self) -> int:
        return len(self.buffers[0]) if self.buffers else 0

    def keep(self, sentences: Tensor) -> None:
        self.buffers = tuple(_kept(buffer, sentences) for buffer in self.buffers)

    def split_beams(self) -> None:
        """Each row gets a buffer with what its lineage has written."""
        if self.lineage.origin is not None:
            index = self.lineage.origin.transpose(1, 2)[:, None, :, :, None]  # B x 1 x S x beams x 1
            self.buffers = tuple(self._split(buffer, index) for buffer in self.buffers)

    def _split(self, buffer: Tensor, index: Tensor) -> Tensor:
        beams = self.lineage.beams
        every = buffer[:, :, : self.lineage.length * beams].unflatten(2, (-1, beams))  # B x H x S x beams x D
        return every.gather(3, index.expand_as(every)).permute(0, 3, 1, 2, 4).flatten(0, 1)  # B * beams x H x S x D


def _enlarged(buffer: Tensor, least: int, across: bool, apart: bool) -> Tensor:
    """With space for twice as much, and if `across` the positions side by side in memory, as torch reads keys."""
    *outer, length, width = buffer.shape
    room = max(least, 2 * length)
    if apart:
        larger = in_large_pages(buffer.new_empty(*outer, room, width))
    else:
        larger = buffer.new_empty(*outer, width, room).mT if across else buffer.new_empty(*outer, room, width)
    larger[:, :, :length] = buffer
    return larger


def _kept(buffer: Tensor, sentences: Tensor) -> Tensor:
    """In the same order in memory."""
    across = buffer.stride(-1) != 1
    return buffer.mT.index_select(0, sentences).mT if across else buffer.index_select(0, sentences)


class CrossCache:
    """Encoder-decoder attention's in one layer: projected once, of each sentence, whatever the number of its beams."""

    def __init__(self) -> None:
        self.held: KeysValues | None = None

    @property
    def sentences(self) -> int:
        return 0 if self.held is None else len(self.held.parts[0])

    def keep(self, sentences: Tensor) -> None:
        if self.held is not None:
            self.held = KeysValues(tuple(_kept(part, sentences) for part in self.held.parts))


class Decoding:
    """All layers' caches."""

    def __init__(self, layers: int, beams: int, orders: OrderReader) -> None:
        self.beams, self.lineage, self.orders = beams, Lineage(beams), orders
        self.own = [SelfCache(self.lineage) for _ in range(layers)]
        self.source = [CrossCache() for _ in range(layers)]

    def step(self, rows: int, device: torch.device) -> list[tuple[SelfCache, CrossCache]]:
        """The caches of each layer, for another position of every row."""
        self.lineage.advance(rows, device)
        return list(zip(self.own, self.source, strict=True))

    def reorder(self, new_order: Tensor) -> None:
        order = self.orders.read(new_order)
        own, beams = sentences_of(order, self.lineage.beams)
        if beams == self.lineage.beams:
            self.lineage.reorder(new_order)
        else:
            for cache in self.own:
                cache.split_beams()
            self.lineage.end()
            own = order
        source, self.beams = sentences_of(order, self.beams)
        keep(self.own, own, new_order.device)
        keep(self.source, source, new_order.device)


def keep(caches: Sequence[SelfCache | CrossCache], sentences: list[int], device: torch.device) -> None:
    held = caches[0].sentences
    if held and not unchanged(sentences, held):
        index = torch.tensor(sentences, device=device)
        for cache in caches:
            cache.keep(index)


def sentences_of(order: list[int], beams: int) -> tuple[list[int], int]:
    """Which sentences rows picked from those of `beams` each are of, told once for neighbours that share one; and how
    many rows share each. Where that is not the same number everywhere, each row gets a sentence of its own."""
    runs = [(sentence, len(list(rows))) for sentence, rows in groupby(order, lambda row: row // beams)]
    lengths = {length for _, length in runs}
    if len(lengths) == 1:
        return [sentence for sentence, _ in runs], lengths.pop()
    return [row // beams for row in order], 1


def unchanged(order: list[int], rows: int) -> bool:
    return order == list(range(rows))
