"""A decoding step's attention by one call."""

from collections.abc import Sequence

import torch
from torch import Tensor

from realformer_nmt.kernels.native.library import kernels


def attend(
    query: Tensor,
    keys_values: Sequence[Tensor],
    own: Sequence[Tensor],
    origin: Tensor | None,
    hidden: Tensor | None,
    before: Tensor | None,
    divisor: int | None,
) -> tuple[Tensor, Tensor | None]:
    """softmax((query key^T / sqrt(D) + before) / divisor) value: the heads side by side, B x T x H * D, and the sum of
    scores that goes on, B x H x T x S, where a divisor says that one does.

    query: B x H x T x D; keys and values: B x H x S * beams x D, of which a query sees S; origin, B x T x S, says which
    (Lineage in model/cache.py); own: what is written there first, each query's last position, B x H x T x D; hidden:
    B x 1 x 1 x S, True where no query looks."""
    sentences, heads, queries, width = query.shape
    beams = 1 if origin is None else origin.size(1)
    positions = keys_values[0].size(2) // beams
    known = {(part.shape, part.dtype) for part in (*keys_values, *own)}
    fitting = {((sentences, heads, size, width), query.dtype) for size in (positions * beams, queries)}
    wanted = (before, (sentences, heads, queries, positions)), (origin, (sentences, queries, positions))
    if not known <= fitting or any(part is not None and part.shape != size for part, size in wanted):
        raise ValueError(f"queries {tuple(query.shape)} do not go with keys, values or what is carried: {known}")
    if hidden is not None:
        hidden = hidden.expand(sentences, 1, 1, positions)
    given = [None if part is None else part.contiguous() for part in (origin, hidden, before)]
    out = query.new_empty(sentences, queries, heads * width)
    total = None if divisor is None else query.new_empty(sentences, heads, queries, positions)
    arrays = [part if part.stride(-1) == 1 else part.contiguous() for part in (query, *keys_values, *own)]
    kernels().attend(
        *(0 if part is None else part.data_ptr() for part in (*given, total, out)),
        *(divisor or 1, beams, sentences, heads, queries, positions, width, torch.get_num_threads()),
        *(number for part in arrays for number in (part.data_ptr(), *part.stride()[:3])),
        *([] if own else [0] * 8),
    )
    return out, total
