"""Attention of one decoding step, computed by a single call of C."""

from collections.abc import Sequence

import torch
from torch import Tensor

from realformer_nmt.kernels.native.library import built


def attend(
    query: Tensor,
    keys_values: Sequence[Tensor],
    last: Sequence[Tensor],
    origin: Tensor | None,
    hidden: Tensor | None,
    before: Tensor | None,
    divisor: int | None,
) -> tuple[Tensor, Tensor | None]:
    """Return softmax(scores / divisor) value with scores = query key^T / sqrt(D) + before, and these scores.

    The result is B x T x H * D, the heads concatenated. The scores, B x H x T x S, are what the next layer gets as its
    `before`; without a divisor they are not returned, and the divisor is 1.

    query        B x H x T x D
    keys_values  two of B x H x S * beams x D: what each beam has written at each position; without origin, beams is 1
    last         none, or two of B x H x beams x D: written into keys_values as the last position first
    origin       B x beams x S, int64: the beam whose keys and values each query uses at each position; T is beams
    hidden       B x 1 x 1 x S, bool: True where no query may look
    before       B x H x T x S
    """
    key, value = keys_values
    last_key, last_value = last or (None, None)
    result = built().attend(
        query=_with_adjacent_numbers(query),
        key=key if last else _with_adjacent_numbers(key),
        value=value if last else _with_adjacent_numbers(value),
        own_key=_with_adjacent_numbers(last_key),
        own_value=_with_adjacent_numbers(last_value),
        origin=None if origin is None else origin.contiguous(),
        hidden=None if hidden is None else hidden.contiguous(),
        before=None if before is None else before.contiguous(),
        divisor=1 if divisor is None else divisor,
        carries=divisor is not None,
        threads=torch.get_num_threads(),
    )
    return (result, None) if divisor is None else result


def _with_adjacent_numbers(part: Tensor | None) -> Tensor | None:
    """Return the tensor, or a copy where the numbers of its last dimension are not next to each other."""
    return part if part is None or part.stride()[-1:] == (1,) else part.contiguous()
