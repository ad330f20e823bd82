"""Attention with carried scores that keeps no scores for backward but the last layer's total."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from realformer_nmt.kernels.dropout import drop_by_mask, pass_by_mask


class ChainedAttention(torch.autograd.Function):
    """dropout(softmax(mask(total_l / d))) V_l with total_l = Q_l K_l^T + total_{l-1}; total_L alone is kept.

    Backward computes a layer's scores again and hands total_l - Q_l K_l^T to the layer below: a residual sum that is
    run backwards, as in RevNet (Gomez et al. 2017, section 3.2).
    """

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        before: Tensor | None,
        mask: Tensor | None,
        divisor: int,
        p: float,
    ) -> tuple[Tensor, Tensor]:
        total = first_total(query, key) if before is None else add_scores(before, query, key, 1)  # B x H x T x S
        ctx.below = None if before is None else before.grad_fn
        ctx.before = before
        if isinstance(ctx.below, type(ctx)):
            ctx.below.total = ctx.before = None  # backward brings it back
        ctx.total, ctx.divisor = total.detach(), divisor
        shares = probabilities(total, mask, divisor).type_as(value)
        ctx.scale, keep = 1.0, None
        if p:
            shares, keep, ctx.scale = drop_by_mask(shares, p)
        ctx.save_for_backward(query, key, value, mask, keep)
        return shares @ value, total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_heads: Tensor, of_total: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, mask, keep = ctx.saved_tensors
        total = total_again(ctx) if ctx.total is None else ctx.total
        ctx.total = None
        shares = probabilities(total, mask, ctx.divisor)
        if isinstance(ctx.below, type(ctx)):
            ctx.below.total = add_scores(total, query, key, -1, out=total)
        dropped = shares if keep is None else pass_by_mask(shares, keep, ctx.scale)
        of_value = dropped.type_as(value).mT @ of_heads
        of_scores = (of_heads / ctx.divisor @ value.mT).type_as(shares).mul_(dropped)
        of_scores.addcmul_(shares, of_scores.sum(-1, keepdim=True), value=-1)  # backward of the softmax
        of_scores.add_(of_total)
        rounded = of_scores.type_as(query)
        return rounded @ key, rounded.mT @ query, of_value, of_scores if ctx.below else None, None, None, None


attend_in_chain: Callable[..., tuple[Tensor, Tensor]] = ChainedAttention.apply


def total_again(ctx: Any) -> Tensor:
    """Sum the scores of this layer and of those below, where backward has not been through the layer above."""
    query, key, *_ = ctx.saved_tensors
    before = total_again(ctx.below) if isinstance(ctx.below, type(ctx)) else ctx.before
    return first_total(query, key) if before is None else add_scores(before, query, key, 1)


def probabilities(total: Tensor, mask: Tensor | None, divisor: int) -> Tensor:
    logits = total / divisor
    return (logits if mask is None else logits.masked_fill_(mask, -torch.inf)).softmax(-1)


def first_total(query: Tensor, key: Tensor) -> Tensor:
    scores = query @ key.mT
    return scores.to(torch.promote_types(scores.dtype, torch.float32))


def add_scores(total: Tensor, query: Tensor, key: Tensor, sign: int, out: Tensor | None = None) -> Tensor:
    """Return total + sign Q K^T, without a tensor between if all have the same type."""
    if query.dtype is not total.dtype:
        return torch.add(total, query @ key.mT, alpha=sign, out=out)
    flat, queries, keys = (each.flatten(0, 1) for each in (total, query, key))
    return torch.baddbmm(flat, queries, keys.mT, alpha=sign, out=None if out is None else flat).view_as(total)
