"""Transfer of embeddings to another vocabulary: subwords that both dictionaries have keep their rows."""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from fairseq.data import Dictionary
from torch import Tensor

TABLES = {  # weights with one row per subword, and the side whose dictionary they follow
    "encoder.embed_tokens.weight": "source",
    "decoder.embed_tokens.weight": "target",
    "decoder.output_projection.weight": "target",
}


class CommonRows(NamedTuple):
    """The subwords that two dictionaries have in common.

    before[n] is the row of a subword in the old dictionary, now[n] its row in the new one.
    """

    before: list[int]
    now: list[int]
    subwords: int  # in the new dictionary, without <s>, <pad>, </s> and <unk>
    common: int  # how many of these are in the old one

    def __str__(self) -> str:
        return f"{self.common:,} of {self.subwords:,}"


def common(before: Dictionary, now: Dictionary) -> CommonRows:
    """Return the rows of the subwords that two dictionaries have in common."""
    old_rows = {subword: row for row, subword in enumerate(before.symbols)}
    new_rows = [row for row, subword in enumerate(now.symbols) if subword in old_rows]
    return CommonRows(
        before=[old_rows[now[row]] for row in new_rows],
        now=new_rows,
        subwords=len(now) - now.nspecial,
        common=sum(row >= now.nspecial for row in new_rows),
    )


def carry(
    weights: Mapping[str, Tensor], fresh: Mapping[str, Tensor], rows: Mapping[str, CommonRows]
) -> dict[str, Tensor]:
    """Return the weights with all tables fitted to the new dictionaries.

    Rows of common subwords are copied; the rest are those of a newly initialised model, `fresh`.
    """
    carried = dict(weights)
    for name in TABLES.keys() & weights.keys() & fresh.keys():
        weight, new = weights[name], fresh[name]
        if weight.shape[1:] == new.shape[1:]:  # else of another model, which its loader refuses
            common_rows = rows[TABLES[name]]
            now = torch.tensor(common_rows.now, device=new.device)
            carried[name] = new.index_copy(0, now, weight[common_rows.before].to(new))
    return carried
