"""--criterion label_smoothed_cross_entropy_fused: fairseq's loss without its tokens x vocabulary log-probabilities."""

from typing import Any

import torch
from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import (
    LabelSmoothedCrossEntropyCriterion,
    LabelSmoothedCrossEntropyCriterionConfig,
)
from torch import Tensor
from torch.autograd.function import once_differentiable

CACHE_CHUNK = 2**18  # logits that are fp32 at a time: on the CPU 1 MB, which stays in the cache,
LAUNCH_CHUNK = 2**24  # elsewhere 64 MB, so that kernel launches do not count


class SmoothedNLL(torch.autograd.Function):
    """Per token, with V logits z, q = softmax(z), target y and smoothing e (Szegedy et al. 2016, arXiv 1512.00567, as
    fairseq shares e out: e' = e / (V - 1) to every other class):

    nll = -log q_y                        loss = (1 - e - e') nll - e' sum_i log q_i
    d nll / d z_i = q_i - [i = y]         d loss / d z_i = q_i - e' - (1 - e - e') [i = y]

    Only the logits are kept; both directions work through them in chunks, in fp32 where they have 16 bits.
    """

    @staticmethod
    def forward(ctx: Any, logits: Tensor, target: Tensor, smoothing: float, padding: int) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(logits, target)
        ctx.padding = padding
        ctx.uniform = smoothing / (logits.size(1) - 1)
        ctx.peak = 1 - smoothing - ctx.uniform
        wide = _wide(logits)
        nll, smooth = logits.new_empty(2, len(logits), dtype=wide)  # N each
        for rows in _chunks(logits):
            log_q = torch.log_softmax(logits[rows], -1, dtype=wide)  # n x V
            nll[rows] = -log_q.gather(1, target[rows, None]).squeeze(1)
            smooth[rows] = -log_q.sum(-1)
        nll.masked_fill_(target == padding, 0)
        smooth.masked_fill_(target == padding, 0)
        return ctx.peak * nll + ctx.uniform * smooth, nll

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_loss: Tensor, d_nll: Tensor) -> tuple[Tensor, None, None, None]:
        logits, target = ctx.saved_tensors
        padded = target == ctx.padding
        d_loss, d_nll = (gradient.masked_fill(padded, 0)[:, None] for gradient in (d_loss, d_nll))  # N x 1
        d_logits = torch.empty_like(logits)
        for rows in _chunks(logits):
            q = torch.softmax(logits[rows], -1, dtype=_wide(logits))  # n x V
            q.mul_(d_loss[rows] + d_nll[rows]).sub_(ctx.uniform * d_loss[rows])
            q.scatter_add_(1, target[rows, None], -ctx.peak * d_loss[rows] - d_nll[rows])
            d_logits[rows] = q
        return d_logits, None, None, None


def _wide(logits: Tensor) -> torch.dtype:
    return torch.promote_types(logits.dtype, torch.float32)


def _chunks(logits: Tensor) -> list[slice]:
    chunk = CACHE_CHUNK if logits.device.type == "cpu" else LAUNCH_CHUNK
    height = max(1, chunk // logits.size(1))
    return [slice(start, start + height) for start in range(0, len(logits), height)]


@register_criterion("label_smoothed_cross_entropy_fused", dataclass=LabelSmoothedCrossEntropyCriterionConfig)
class FusedLabelSmoothedCrossEntropyCriterion(LabelSmoothedCrossEntropyCriterion):
    """fairseq's label_smoothed_cross_entropy, options and logs included, for models whose output is logits."""

    def get_lprobs_and_target(self, model: Any, net_output: Any, sample: Any) -> tuple[Tensor, Tensor]:
        """The logits in place of log-probabilities (whose argmax they share), an ignored prefix turned into padding."""
        logits, target = net_output[0], model.get_targets(sample, net_output)  # B x T x V, B x T
        if self.ignore_prefix_size > 0:
            target = target.clone()
            target[:, : self.ignore_prefix_size] = self.padding_idx
        return logits.reshape(-1, logits.size(-1)), target.reshape(-1)

    def compute_loss(self, model: Any, net_output: Any, sample: Any, reduce: bool = True) -> tuple[Tensor, Tensor]:
        _refuse_unless_softmax(model)
        logits, target = self.get_lprobs_and_target(model, net_output, sample)
        losses = SmoothedNLL.apply(logits, target, self.eps, self.padding_idx)
        if reduce:
            loss, nll = (tokens.sum() for tokens in losses)
        else:  # B * (T - prefix) x 1, as fairseq's
            batch = len(net_output[0])
            loss, nll = (tokens.view(batch, -1)[:, self.ignore_prefix_size :].reshape(-1, 1) for tokens in losses)
        return loss, nll


def _refuse_unless_softmax(model: Any) -> None:
    """Not every output layer returns logits; a made-up row of them tells, without waiting for the accelerator."""
    name = "label_smoothed_cross_entropy_fused"
    if getattr(getattr(model, "decoder", None), "adaptive_softmax", None) is not None:
        raise ValueError(f"--criterion {name} has no --adaptive-softmax-cutoff: take --criterion adaptive_loss")
    row = torch.tensor([[[0.0, 1.0, 3.0]]])
    if not torch.allclose(model.get_normalized_probs((row, None), log_probs=True), row.log_softmax(-1)):
        raise ValueError(
            f"--criterion {name} needs a model whose probabilities are the softmax of its output, which those of "
            f"{type(model).__name__} are not: take --criterion label_smoothed_cross_entropy"
        )
