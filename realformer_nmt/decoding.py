"""What beam search keeps from step to step, so that a step costs its own position only."""

from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor

ROOM = 32  # positions there is room for at first; it doubles when they are full


class Memory(NamedTuple):
    """Keys (None where the scores take none) and values of the positions that a query looks at, B x H x S x D each."""

    key: Tensor | None
    value: Tensor


class OwnMemory:
    """Self-attention's in one layer: grown by a position a step, in place, so no gradient passes through it."""

    def __init__(self) -> None:
        self.length = 0
        self.room: Tensor | None = None  # 1 or 2 (values, keys) x B x H x at least S x D
        self.spare: Tensor | None = None

    def extend(self, new: Memory) -> Memory:
        parts = [part for part in (new.value, new.key) if part is not None]
        start, self.length = self.length, self.length + new.value.size(2)
        room = self.room = self._with_room(parts[0], len(parts))
        for index, part in enumerate(parts):
            room[index, :, :, start : self.length] = part.detach()
        value, *key = room[:, :, :, : self.length].unbind()
        return Memory(key[0] if key else None, value)

    def reorder(self, order: Tensor) -> None:
        """Into a second room, for a row may go where another comes from; the two change places."""
        if self.room is None:
            return
        parts, _, heads, size, width = self.room.shape
        if self.spare is None or self.spare.shape != (parts, len(order), heads, size, width):
            self.spare = self.room.new_empty(parts, len(order), heads, size, width)
        torch.index_select(self.room[:, :, :, : self.length], 1, order, out=self.spare[:, :, :, : self.length])
        self.room, self.spare = self.spare, self.room

    def _with_room(self, part: Tensor, parts: int) -> Tensor:
        if self.room is not None and self.length <= self.room.size(3):
            return self.room
        rows, heads, _, width = part.shape
        size = max(ROOM, self.length, 2 * self.room.size(3) if self.room is not None else 0)
        room = part.new_empty(parts, rows, heads, size, width)
        if self.room is not None:
            room[:, :, :, : self.room.size(3)] = self.room
        return room


class SourceMemory:
    """Encoder-decoder attention's in one layer: projected once, of each sentence, whatever the number of its beams."""

    def __init__(self) -> None:
        self.memory: Memory | None = None

    def reorder(self, kept: list[int]) -> None:
        if self.memory is None or unchanged(kept, len(self.memory.value)):
            return
        key, value = self.memory
        index = torch.tensor(kept, device=value.device)
        self.memory = Memory(None if key is None else key.index_select(0, index), value.index_select(0, index))


class Decoding:
    """All layers' memories. Each sentence of the source has as many beams: row r is of sentence r // beams."""

    def __init__(self, layers: int) -> None:
        self.own = [OwnMemory() for _ in range(layers)]
        self.source = [SourceMemory() for _ in range(layers)]

    @property
    def beams(self) -> int:
        own, source = self.own[0].room, self.source[0].memory
        return 1 if own is None or source is None else own.size(1) // len(source.value)

    def reorder(self, new_order: Tensor) -> None:
        order = new_order.tolist()
        kept, _ = sentences_of(order, self.beams)
        rows = 0 if self.own[0].room is None else self.own[0].room.size(1)
        for own in [] if unchanged(order, rows) else self.own:
            own.reorder(new_order)
        for source in self.source:
            source.reorder(kept)


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
