"""Caches of beam search: a step computes its position only, and no beam is ever copied.

All sentences of the source have the same number of beams: row r is of sentence r // beams. Keys and values stay where
a beam has written them, whichever beams continue it; a lineage has their positions.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from realformer_nmt.kernels.native.library import in_large_pages
from realformer_nmt.model.attention.beam_order import OrderReader

POSITIONS = 32  # initial size of a buffer, which doubles when it is full


class KeysValues(NamedTuple):
    """Values, and keys if the scores need any, that a sentence's queries see: B x H x S * beams x D each.

    With several beams there is one query per beam, for the last position. Each sees what any beam has written; a mask
    hides what is not of its lineage.
    """

    parts: tuple[Tensor, ...]
    start: int | Tensor = 0  # position of the first query; in a tensor, of the only one
    beams: int = 1
    last: tuple[Tensor, ...] = ()  # the last position of each beam; it may be infinite, parts are made finite
    origin: Tensor | None = None  # of the lineage: B x beams x S

    @property
    def length(self) -> int:
        return self.parts[0].size(2) // self.beams

    def rows(self, table: Tensor) -> Tensor:
        """Select the rows of the queries' positions: H x N x _ to H x T x _."""
        if isinstance(self.start, Tensor):
            return table.index_select(1, self.start)
        return table[:, self.start : self.length]

    def match(self, query: Tensor, scale: float | Tensor) -> Tensor:
        return (query * scale) @ self.parts[1].transpose(-1, -2)  # B x H x T x S * beams

    def place(self, scores: Tensor) -> Tensor:
        """Repeat the score of each position for all beams: _ x S to _ x S * beams."""
        return scores if self.beams == 1 else scores.repeat_interleave(self.beams, -1)

    def mix(self, probabilities: Tensor) -> Tensor:
        return self._spoil(probabilities @ self.parts[0])  # B x H x T x D

    def attend(self, query: Tensor, mask: Tensor | None, dropout: float) -> Tensor:
        value, key = self.parts
        look = None if mask is None else ~mask
        return self._spoil(scaled_dot_product_attention(query, key, value, look, dropout))  # B x H x T x D

    def _spoil(self, heads: Tensor) -> Tensor:
        """Make a beam that overflows NaN, and no other: 0 times infinity is NaN."""
        return torch.addcmul(heads, self.last[0], self.last[-1], value=0) if self.last else heads


class Lineage:
    """Record of which beam has written each position of each row."""

    def __init__(self, beams: int) -> None:
        self.beams, self.length = beams, 0
        self.origin: Tensor | None = None  # B x beams x S, with more than one beam

    def advance(self, rows: int, device: torch.device) -> None:
        """Add a position, which each row writes itself."""
        self.length += 1
        if self.beams > 1:
            writers = torch.arange(self.beams, device=device).expand(rows // self.beams, -1).unsqueeze(-1)
            self.origin = writers if self.origin is None else torch.cat([self.origin, writers], -1)

    def mask(self) -> Tensor | None:
        return None if self.origin is None else hidden(self.origin)

    def reorder(self, order: Tensor) -> None:
        if self.origin is not None:
            rows = self.origin.flatten(0, 1).index_select(0, order)
            self.origin = torch.unflatten(rows, 0, (-1, self.beams))

    def end(self) -> None:
        """Count each row as a sentence with one beam from now on."""
        self.beams, self.origin = 1, None


def hidden(origin: Tensor) -> Tensor:
    """Return the mask that hides what is not of a beam's lineage: B x 1 x beams x S * beams."""
    every = torch.arange(origin.size(1), device=origin.device)
    return (origin.unsqueeze(-1) != every).flatten(-2).unsqueeze(1)


class SelfCache:
    """Cache of a layer's self-attention; it grows in place by one position per step, without a gradient."""

    def __init__(self, lineage: Lineage) -> None:
        self.lineage = lineage
        self.buffers: tuple[Tensor, ...] = ()  # values, keys: B x H x at least S * beams x D

    def extend(self, new: KeysValues, for_kernel: bool = False) -> KeysValues:
        """Add a position, and return all positions; `for_kernel`: for the package's kernel, which writes it itself."""
        beams, length = self.lineage.beams, self.lineage.length
        end, written = length * beams, [part.detach() for part in new.parts]
        self.buffers = self.buffers or tuple(part[:, :, :0] for part in written)
        if end > self.buffers[0].size(2):
            self.buffers = tuple(
                _enlarged(buffer, POSITIONS * beams, at > 0 and buffer.is_cpu, for_kernel)
                for at, buffer in enumerate(self.buffers)
            )
        for buffer, part in zip(self.buffers, written, strict=True):
            if not for_kernel:  # finite, or 0 times it is NaN for all beams
                torch.nan_to_num(part, 0, 0, 0, out=buffer[:, :, end - beams : end])
        seen = tuple(buffer[:, :, :end] for buffer in self.buffers)
        return KeysValues(seen, length - 1, beams, tuple(written), self.lineage.origin)

    @property
    def sentences(self) -> int:
        return len(self.buffers[0]) if self.buffers else 0

    def keep(self, sentences: Tensor) -> None:
        self.buffers = tuple(_select(buffer, sentences) for buffer in self.buffers)

    def split_beams(self) -> None:
        """Copy to each row what its lineage has written."""
        if self.lineage.origin is not None:
            index = self.lineage.origin.transpose(1, 2)[:, None, :, :, None]  # B x 1 x S x beams x 1
            self.buffers = tuple(self._split(buffer, index) for buffer in self.buffers)

    def _split(self, buffer: Tensor, index: Tensor) -> Tensor:
        beams = self.lineage.beams
        every = torch.unflatten(buffer[:, :, : self.lineage.length * beams], 2, (-1, beams))  # B x H x S x beams x D
        return every.gather(3, index.expand_as(every)).permute(0, 3, 1, 2, 4).flatten(0, 1)  # B * beams x H x S x D


def _enlarged(buffer: Tensor, least: int, across: bool, for_kernel: bool) -> Tensor:
    """Copy a buffer to one twice as large; `across`: with adjacent positions in memory, as torch multiplies by
    keys fastest on a CPU. On a GPU its attention kernels take none but rows."""
    *outer, length, width = buffer.shape
    room = max(least, 2 * length)
    if for_kernel:
        larger = in_large_pages(buffer.new_empty(*outer, room, width))
    elif across:
        larger = buffer.new_empty(*outer, width, room).mT
    else:
        larger = buffer.new_empty(*outer, room, width)
    larger[:, :, :length] = buffer
    return larger


def _select(buffer: Tensor, sentences: Tensor) -> Tensor:
    """Select sentences of a buffer, and keep its order in memory."""
    across = buffer.stride(-1) != 1
    return buffer.mT.index_select(0, sentences).mT if across else buffer.index_select(0, sentences)


class CrossCache:
    """Cache of a layer's encoder-decoder attention, projected once per sentence for all its beams."""

    def __init__(self) -> None:
        self.held: KeysValues | None = None

    @property
    def sentences(self) -> int:
        return 0 if self.held is None else len(self.held.parts[0])

    def keep(self, sentences: Tensor) -> None:
        if self.held is not None:
            self.held = KeysValues(tuple(_select(part, sentences) for part in self.held.parts))


class Decoding:
    """Caches of all layers."""

    def __init__(self, layers: int, beams: int, orders: OrderReader) -> None:
        self.beams, self.lineage, self.orders = beams, Lineage(beams), orders
        self.target = [SelfCache(self.lineage) for _ in range(layers)]
        self.source = [CrossCache() for _ in range(layers)]

    def step(self, rows: int, device: torch.device) -> list[tuple[SelfCache, CrossCache]]:
        """Add a position to every row, and return the caches of each layer."""
        self.lineage.advance(rows, device)
        return list(zip(self.target, self.source, strict=True))

    def reorder(self, new_order: Tensor) -> None:
        order = self.orders.read(new_order)
        rows, beams = sentences_of(order, self.lineage.beams)
        if beams == self.lineage.beams:
            self.lineage.reorder(new_order)
        else:
            for cache in self.target:
                cache.split_beams()
            self.lineage.end()
            rows = order
        source, self.beams = sentences_of(order, self.beams)
        keep(self.target, rows, new_order.device)
        keep(self.source, source, new_order.device)


def keep(caches: Sequence[SelfCache | CrossCache], sentences: list[int], device: torch.device) -> None:
    size = caches[0].sentences
    if size and not unchanged(sentences, size):
        index = torch.tensor(sentences, device=device)
        for cache in caches:
            cache.keep(index)


def sentences_of(order: list[int], beams: int) -> tuple[list[int], int]:
    """Return the sentences of reordered rows, of which each had `beams`, and the number of rows per sentence.

    Adjacent rows of the same sentence share it. If the number of these is not the same everywhere, each row counts as
    a separate sentence.
    """
    runs = [(sentence, len(list(rows))) for sentence, rows in groupby(order, lambda row: row // beams)]
    lengths = {length for _, length in runs}
    if len(lengths) == 1:
        return [sentence for sentence, _ in runs], lengths.pop()
    return [row // beams for row in order], 1


def unchanged(order: list[int], rows: int) -> bool:
    return order == list(range(rows))
