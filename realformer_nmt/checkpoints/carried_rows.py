"""Another vocabulary: the rows of the pieces that two dictionaries have in common, and weights that go over to them."""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from fairseq.data import Dictionary
from torch import Tensor

TABLES = {  # weights with a row a piece, and whose pieces they are
    "encoder.embed_tokens.weight": "source",
    "decoder.embed_tokens.weight": "target",
    "decoder.output_projection.weight": "target",
}


class Rows(NamedTuple):
    """before[n] is the row of a piece in one dictionary, now[n] that of the same piece in the other."""

    before: list[int]
    now: list[int]
    pieces: int  # of the other, without <s>, <pad>, </s> and <unk>
    common: int  # of these

    def __str__(self) -> str:
        return f"{self.common:,} of {self.pieces:,}"


def common(before: Dictionary, now: Dictionary) -> Rows:
    places = {piece: row for row, piece in enumerate(before.symbols)}
    found = [row for row, piece in enumerate(now.symbols) if piece in places]
    pieces = [row for row in found if row >= now.nspecial]
    return Rows([places[now[row]] for row in found], found, len(now) - now.nspecial, len(pieces))


def carry(weights: Mapping[str, Tensor], fresh: Mapping[str, Tensor], rows: Mapping[str, Rows]) -> dict[str, Tensor]:
    """Of each table the rows of common pieces; the others are those of a model that is to be trained, `fresh`."""
    return {name: _carried(name, weight, fresh, rows) for name, weight in weights.items()}


def _carried(name: str, weight: Tensor, fresh: Mapping[str, Tensor], rows: Mapping[str, Rows]) -> Tensor:
    if name not in TABLES or name not in fresh or weight.shape[1:] != fresh[name].shape[1:]:
        return weight  # of another model, which its loader refuses
    before, now, *_ = rows[TABLES[name]]
    return fresh[name].index_copy(0, torch.tensor(now), weight[before].to(fresh[name]))
