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

ROOM = 32  # positions there is room for at first; it doubles when they are full


class Memory(NamedTuple):
    """Values, and keys where the scores take any, of the positions that a query looks at: B x H x S x D each."""

    parts: tuple[Tensor, ...]

    @property
    def length(self) -> int:
        return self.parts[0].size(2)

    def match(self, query: Tensor) -> Tensor:
        return query @ self.parts[1].transpose(-1, -2)  # B x H x T x S

    def mix(self, probabilities: Tensor) -> Tensor:
        return probabilities @ self.parts[0]  # B x H x T x D

    def attend(self, query: Tensor, mask: Tensor | None, dropout: float) -> Tensor:
        value, key = self.parts
        look = None if mask is None else ~mask
        return scaled_dot_product_attention(query, key, value, look, dropout)  # B x H x T x D


class BeamMemory(NamedTuple):
    """The same for one query a row, of the positions of all beams of its sentence: B x H x S * beams x D each."""

    parts: tuple[Tensor, ...]
    origin: Tensor  # B x 1 x beams x S: which beam has written a position

    @property
    def length(self) -> int:
        return self.origin.size(-1)

    def match(self, query: Tensor) -> Tensor:
        """With every beam's positions; those of the own lineage are picked."""
        scores = self._together(query) @ self.parts[1].transpose(-1, -2)  # B x H x beams x S * beams
        return self._apart(scores.unflatten(-1, (self.length, -1)).gather(-1, self._index(query)).squeeze(-1))

    def mix(self, probabilities: Tensor) -> Tensor:
        """Positions of other lineages count nothing."""
        own = self._together(probabilities).unsqueeze(-1)  # B x H x beams x S x 1
        every = own.new_zeros(*own.shape[:-1], own.size(2)).scatter_(-1, self._index(probabilities), own)
        return self._apart(every.flatten(-2) @ self.parts[0])

    def attend(self, query: Tensor, _mask: Tensor | None, dropout: float) -> Tensor:
        value, key = self.parts
        every = torch.arange(self.origin.size(2), device=self.origin.device)
        own = (self.origin.unsqueeze(-1) == every).flatten(-2)  # B x 1 x beams x S * beams
        return self._apart(scaled_dot_product_attention(self._together(query), key, value, own, dropout))

    def _index(self, rows: Tensor) -> Tensor:
        return self.origin.expand(-1, rows.size(1), -1, -1).unsqueeze(-1)  # B x H x beams x S x 1

    def _together(self, rows: Tensor) -> Tensor:
        return rows.squeeze(2).unflatten(0, self.origin.shape[::2]).transpose(1, 2)  # B x H x beams x _

    def _apart(self, beams: Tensor) -> Tensor:
        return beams.transpose(1, 2).flatten(0, 1).unsqueeze(2)  # B * beams x H x 1 x _


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

    def reorder(self, order: Tensor) -> None:
        if self.origin is not None:
            self.origin = self.origin.flatten(0, 1).index_select(0, order).unflatten(0, (-1, self.beams))

    def end(self) -> None:
        """From now on each row is a sentence with one beam."""
        self.beams, self.origin = 1, None


class OwnMemory:
    """Self-attention's in one layer: grown by a position a step, in place, so no gradient passes through it."""

    def __init__(self, lineage: Lineage) -> None:
        self.lineage = lineage
        self.room: Tensor | None = None  # 1 or 2 (values, keys) x B x H x at least S * beams x D

    def extend(self, new: Memory) -> Memory | BeamMemory:
        beams, origin = self.lineage.beams, self.lineage.origin
        end = self.lineage.length * beams
        parts = torch.stack(new.parts).detach().unflatten(1, (-1, beams))  # parts x B x beams x H x T x D
        written = parts.permute(0, 1, 3, 4, 2, 5).flatten(3, 4)  # parts x B x H x T * beams x D
        room = self.room = self._with_room(written, end)
        room[:, :, :, end - written.size(3) : end] = written
        seen = room[:, :, :, :end].unbind()
        return Memory(seen) if origin is None else BeamMemory(seen, origin.unsqueeze(1))

    @property
    def sentences(self) -> int:
        return 0 if self.room is None else self.room.size(1)

    def keep(self, sentences: Tensor) -> None:
        if self.room is not None:
            self.room = self.room.index_select(1, sentences)

    def part_beams(self) -> None:
        """Each row gets a room with what its lineage has written."""
        origin, beams = self.lineage.origin, self.lineage.beams
        if self.room is not None and origin is not None:
            every = self.room[:, :, :, : self.lineage.length * beams].unflatten(3, (-1, beams))
            index = origin.transpose(1, 2)[None, :, None, :, :, None].expand_as(every)  # parts x B x H x S x beams x D
            self.room = every.gather(4, index).permute(0, 1, 4, 2, 3, 5).flatten(1, 2)

    def _with_room(self, written: Tensor, end: int) -> Tensor:
        old = self.room
        if old is not None and end <= old.size(3):
            return old
        size = max(ROOM * self.lineage.beams, end, 0 if old is None else 2 * old.size(3))
        room = written.new_empty(*written.shape[:3], size, written.size(4))
        if old is not None:
            room[:, :, :, : old.size(3)] = old
        return room


class SourceMemory:
    """Encoder-decoder attention's in one layer: projected once, of each sentence, whatever the number of its beams."""

    def __init__(self) -> None:
        self.memory: Memory | None = None

    @property
    def sentences(self) -> int:
        return 0 if self.memory is None else len(self.memory.parts[0])

    def keep(self, sentences: Tensor) -> None:
        if self.memory is not None:
            self.memory = Memory(tuple(part.index_select(0, sentences) for part in self.memory.parts))


class Decoding:
    """All layers' memories."""

    def __init__(self, layers: int, beams: int) -> None:
        self.beams, self.lineage = beams, Lineage(beams)
        self.own = [OwnMemory(self.lineage) for _ in range(layers)]
        self.source = [SourceMemory() for _ in range(layers)]

    def step(self, rows: int, device: torch.device) -> list[tuple[OwnMemory, SourceMemory]]:
        """The memories of each layer, for another position of every row."""
        self.lineage.advance(rows, device)
        return list(zip(self.own, self.source, strict=True))

    def reorder(self, new_order: Tensor) -> None:
        order = new_order.tolist()
        own, beams = sentences_of(order, self.lineage.beams)
        if beams == self.lineage.beams:
            self.lineage.reorder(new_order)
        else:
            for memory in self.own:
                memory.part_beams()
            self.lineage.end()
            own = order
        source, self.beams = sentences_of(order, self.beams)
        keep(self.own, own, new_order.device)
        keep(self.source, source, new_order.device)


def keep(memories: Sequence[OwnMemory | SourceMemory], sentences: list[int], device: torch.device) -> None:
    if not unchanged(sentences, memories[0].sentences):
        index = torch.tensor(sentences, device=device)
        for memory in memories:
            memory.keep(index)


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
