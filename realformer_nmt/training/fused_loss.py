"""--criterion label_smoothed_cross_entropy_fused: fairseq's loss without its tokens x vocabulary log-probabilities."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import (
    LabelSmoothedCrossEntropyCriterion,
    LabelSmoothedCrossEntropyCriterionConfig,
)
from torch import Tensor
from torch.autograd.function import once_differentiable

from realformer_nmt.common.errors import OptionError
from realformer_nmt.kernels.matmul import product
from realformer_nmt.kernels.native.library import takes
from realformer_nmt.kernels.native.smoothing import replace_by_gradient

CACHE_CHUNK = 2**18  # fp32 logits at a time on a CPU: 1 MB, which stays in the cache
LAUNCH_CHUNK = 2**24  # logits at a time on a CPU: 64 MB
GPU_CHUNK = 2**26  # logits at a time on a GPU: 256 MB; 30 launches outlast the products of 512 tokens


class SmoothedNLL(torch.autograd.Function):
    """Loss and nll per token (Szegedy et al. 2016, arXiv 1512.00567).

    They are of V logits z, q = softmax(z), target y and smoothing e; e' = e / (V - 1) for every other class, as in
    fairseq:

    nll = -log q_y                        loss = (1 - e - e') nll - e' sum_i log q_i
    d nll / d z_i = q_i - [i = y]         d loss / d z_i = q_i - e' - (1 - e - e') [i = y]

    Only the logits are kept; both directions work through them in chunks, in fp32 where they have 16 bits.
    """

    @staticmethod
    def forward(ctx: Any, logits: Tensor, target: Tensor, smoothing: float, padding: int) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(logits, target)
        ctx.padding, ctx.shares = padding, _shares(smoothing, logits.size(1))
        losses = logits.new_empty(2, len(logits), dtype=wide(logits))  # loss and nll of N tokens
        for rows in chunks(len(logits), logits.size(1), working_set(logits)):
            log_q = torch.log_softmax(logits[rows], -1, dtype=losses.dtype)  # n x V
            losses[:, rows] = _losses(log_q, target[rows], ctx.shares)
        losses.masked_fill_(target == padding, 0)
        return losses[0].clone(), losses[1].clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_loss: Tensor, d_nll: Tensor) -> tuple[Tensor, None, None, None]:
        logits, target = ctx.saved_tensors
        d_losses = torch.stack([d_loss, d_nll]).masked_fill_(target == ctx.padding, 0).unsqueeze(-1)  # 2 x N x 1
        d_logits = torch.empty_like(logits)
        for rows in chunks(len(logits), logits.size(1), working_set(logits)):
            q = torch.softmax(logits[rows], -1, dtype=d_losses.dtype)  # n x V
            d_logits[rows] = _differentiate(q, target[rows], ctx.shares, d_losses[:, rows])
        return d_logits, None, None, None


class ProjectedNLL(torch.autograd.Function):
    """The sums of SmoothedNLL over the tokens, for the logits features @ weight^T.

    The logits never exist as a whole: one chunk at a time is computed, replaced by its gradient and multiplied out. The
    sum of the nll is not differentiated.
    """

    @staticmethod
    def forward(
        ctx: Any, features: Tensor, weight: Tensor, target: Tensor, smoothing: float, padding: int
    ) -> tuple[Tensor, Tensor]:
        shares = _shares(smoothing, len(weight))
        d_features, d_weight = torch.empty_like(features), torch.empty_like(weight)  # N x C, V x C
        losses = features.new_zeros(2, dtype=wide(features))
        at_a_time = LAUNCH_CHUNK if features.device.type == "cpu" else GPU_CHUNK
        for rows in chunks(len(features), len(weight), at_a_time):
            logits = product(features[rows], weight)  # n x V
            losses += _replace_by_gradient(logits, target[rows], shares, padding)
            torch.mm(logits, weight, out=d_features[rows])
            d_weight.addmm_(logits.t(), features[rows], beta=int(rows.start > 0))
        ctx.gradients = d_features, d_weight
        loss, nll = (summed.clone() for summed in losses)  # not views, which fairseq could not set to 0 in place
        ctx.mark_non_differentiable(nll)
        return loss, nll

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_loss: Tensor, _d_nll: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        d_features, d_weight = ctx.gradients
        del ctx.gradients  # so that autograd reuses them instead of copying V x C numbers
        return d_features.mul_(d_loss), d_weight.mul_(d_loss), None, None, None


smoothed_nll: Callable[[Tensor, Tensor, float, int], tuple[Tensor, Tensor]] = SmoothedNLL.apply
projected_nll: Callable[[Tensor, Tensor, Tensor, float, int], tuple[Tensor, Tensor]] = ProjectedNLL.apply


class Shares(NamedTuple):
    peak: float  # 1 - e - e', the target's share beyond that of every class
    uniform: float  # e'


def _shares(smoothing: float, classes: int) -> Shares:
    uniform = smoothing / (classes - 1)
    return Shares(1 - smoothing - uniform, uniform)


def _replace_by_gradient(logits: Tensor, target: Tensor, shares: Shares, padding: int) -> Tensor:
    """Return the sums of loss and nll, and replace the logits by the gradient of the loss' sum."""
    sums = logits.new_zeros(2, dtype=wide(logits))
    if takes(logits):
        return sums.add_(replace_by_gradient(logits, target, *shares, padding).sum(1))
    counts = (target != padding).to(sums.dtype)
    for rows in chunks(len(logits), logits.size(1), working_set(logits)):
        log_q = torch.log_softmax(logits[rows], -1, dtype=sums.dtype)  # n x V
        sums += _losses(log_q, target[rows], shares) @ counts[rows]
        d_losses = torch.stack([counts[rows], torch.zeros_like(counts[rows])]).unsqueeze(-1)
        logits[rows] = _differentiate(log_q.exp_(), target[rows], shares, d_losses)
    return sums


def _losses(log_q: Tensor, target: Tensor, shares: Shares) -> Tensor:
    """Return loss and nll of every token, 2 x n."""
    nll = -log_q.gather(1, target[:, None]).squeeze(1)
    return torch.stack([shares.peak * nll - shares.uniform * log_q.sum(-1), nll])


def _differentiate(q: Tensor, target: Tensor, shares: Shares, d_losses: Tensor) -> Tensor:
    """Replace q by the gradient of the logits, and return it."""
    d_loss, d_nll = d_losses  # n x 1 each
    q.mul_(d_loss + d_nll).sub_(shares.uniform * d_loss)
    return q.scatter_add_(1, target[:, None], -shares.peak * d_loss - d_nll)


def wide(values: Tensor) -> torch.dtype:
    return torch.promote_types(values.dtype, torch.float32)


def working_set(logits: Tensor) -> int:
    return CACHE_CHUNK if logits.device.type == "cpu" else GPU_CHUNK


def chunks(tokens: int, classes: int, logits: int) -> list[slice]:
    height = max(1, logits // classes)
    return [slice(start, start + height) for start in range(0, tokens, height)]


@register_criterion("label_smoothed_cross_entropy_fused", dataclass=LabelSmoothedCrossEntropyCriterionConfig)
class FusedLabelSmoothedCrossEntropyCriterion(LabelSmoothedCrossEntropyCriterion):
    """fairseq's label_smoothed_cross_entropy, options and logs included, for models whose output is logits."""

    def forward(self, model: Any, sample: Any, reduce: bool = True) -> Any:
        if reduce and not self.report_accuracy and torch.is_grad_enabled() and _projects_plainly(model):
            sample = {**sample, "net_input": {**sample["net_input"], "features_only": True}}
        return super().forward(model, sample, reduce)

    def get_lprobs_and_target(self, model: Any, net_output: Any, sample: Any) -> tuple[Tensor, Tensor]:
        """Return logits in place of log-probabilities (the argmax is the same); an ignored prefix becomes padding."""
        logits, target = net_output[0], model.get_targets(sample, net_output)  # B x T x V, B x T
        if self.ignore_prefix_size > 0:
            target = target.clone()
            target[:, : self.ignore_prefix_size] = self.padding_idx
        return logits.reshape(-1, logits.size(-1)), target.reshape(-1)

    def compute_loss(self, model: Any, net_output: Any, sample: Any, reduce: bool = True) -> tuple[Tensor, Tensor]:
        _check_softmax(model)
        logits, target = self.get_lprobs_and_target(model, net_output, sample)
        if sample["net_input"].get("features_only"):
            weight = model.decoder.output_projection.weight
            return projected_nll(logits, weight, target, self.eps, self.padding_idx)
        losses = smoothed_nll(logits, target, self.eps, self.padding_idx)
        if reduce:
            loss, nll = (tokens.sum() for tokens in losses)
        else:  # B * (T - prefix) x 1, as fairseq's
            batch = len(net_output[0])
            loss, nll = (tokens.view(batch, -1)[:, self.ignore_prefix_size :].reshape(-1, 1) for tokens in losses)
        return loss, nll


def _check_softmax(model: Any) -> None:
    """Raise an error unless the model's probabilities of a test row are its softmax, as those of logits are.

    The row is on the CPU, so that nothing waits for the accelerator.
    """
    name = "label_smoothed_cross_entropy_fused"
    if getattr(getattr(model, "decoder", None), "adaptive_softmax", None) is not None:
        raise OptionError(f"--criterion {name} has no --adaptive-softmax-cutoff: take --criterion adaptive_loss")
    row = torch.tensor([[[0.0, 1.0, 3.0]]])
    if not torch.allclose(model.get_normalized_probs((row, None), log_probs=True), row.log_softmax(-1)):
        raise OptionError(
            f"--criterion {name} needs a model whose probabilities are the softmax of its output, which those of "
            f"{type(model).__name__} are not: take --criterion label_smoothed_cross_entropy"
        )


def _projects_plainly(model: Any) -> bool:
    """Return whether the logits are the decoder's features, which the model can return, times a whole matrix.

    In fp16 the gradient of the logits, computed before the loss is scaled, would underflow; under autocast the model's
    own product casts; and DDP with find_unused_parameters would take the matrix for unused, as the features do
    not depend on it.
    """
    while isinstance(getattr(model, "module", None), torch.nn.Module):
        if getattr(model, "find_unused_parameters", False):
            return False
        model = model.module
    layer = getattr(getattr(model, "decoder", None), "output_projection", None)
    if not isinstance(layer, torch.nn.Linear) or layer.bias is not None:
        return False
    weight = layer.weight
    if weight.shape != (layer.out_features, layer.in_features) or weight.dtype == torch.float16:
        return False
    has_features = "features_only" in inspect.signature(model.forward).parameters
    return has_features and not torch.is_autocast_enabled(weight.device.type)
