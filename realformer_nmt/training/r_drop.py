"""--criterion label_smoothed_cross_entropy_r_drop: two passes with different dropout, whose outputs are to agree."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from fairseq import utils
from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterionConfig
from fairseq.logging import metrics
from torch import Tensor
from torch.autograd.function import once_differentiable

from realformer_nmt.training.fused_loss import (
    FusedLabelSmoothedCrossEntropyCriterion,
    chunks,
    wide,
    working_set,
)


class Disagreement(torch.autograd.Function):
    """Sum over the tokens of (KL(p || q) + KL(q || p)) / 2, where p and q are the softmax of V logits y and z.

    1/2 sum_i (p_i - q_i) d_i, d = log p - log q          d / d y_k = 1/2 (p_k (d_k - sum_i p_i d_i) + p_k - q_k)

    Only the logits are kept; both directions work through them in chunks, in fp32 where they have 16 bits.
    """

    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor, counted: Tensor) -> Tensor:
        ctx.save_for_backward(first, second, counted)  # N x V, N x V, N
        total = first.new_zeros((), dtype=wide(first))
        for rows in chunks(len(first), first.size(1), working_set(first)):
            log_p, log_q = _log_softmax(first[rows]), _log_softmax(second[rows])  # n x V
            divergences = _divergence(log_p.exp() - log_q.exp(), log_p - log_q)
            total += (divergences * counted[rows]).sum()  # a product of vectors would be one of 16 bits under autocast
        return total / 2

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_total: Tensor) -> tuple[Tensor, Tensor, None]:
        first, second, counted = ctx.saved_tensors
        gradients = torch.empty_like(first), torch.empty_like(second)
        for rows in chunks(len(first), first.size(1), working_set(first)):
            log_p, log_q = _log_softmax(first[rows]), _log_softmax(second[rows])
            weight = (counted[rows].to(log_p.dtype) * d_total / 2).unsqueeze(1)  # n x 1
            p, q, d = log_p.exp(), log_q.exp(), log_p - log_q
            gradients[0][rows] = weight * (p * (d - _divergence(p, d).unsqueeze(1)) + p - q)
            gradients[1][rows] = weight * -(q * (d - _divergence(q, d).unsqueeze(1)) + p - q)
        return *gradients, None


disagree: Callable[[Tensor, Tensor, Tensor], Tensor] = Disagreement.apply


def _log_softmax(logits: Tensor) -> Tensor:
    return torch.log_softmax(logits, -1, dtype=wide(logits))


def _divergence(weights: Tensor, difference: Tensor) -> Tensor:
    """Return sum_i w_i d_i of each row; a word of probability 0 in both passes has d = inf - inf, and counts 0."""
    return (weights * difference.nan_to_num(0.0)).sum(-1)


@dataclass
class RDropConfig(LabelSmoothedCrossEntropyCriterionConfig):
    r_drop_alpha: float = field(
        default=5.0, metadata={"help": "weight of the disagreement of the two passes; the paper takes 1 to 5"}
    )


@register_criterion("label_smoothed_cross_entropy_r_drop", dataclass=RDropConfig)
class RDropCriterion(FusedLabelSmoothedCrossEntropyCriterion):
    """nll(p) + nll(q) + alpha (KL(p || q) + KL(q || p)) / 2, smoothed as without it (Liang et al. 2021, arXiv
    2106.14448, equations 2 to 4).

    Both passes are rows of one batch, as in the authors' code, so that their dropout differs. Held-out data get one
    pass, and the same loss as without R-Drop.
    """

    def __init__(
        self,
        task: Any,
        sentence_avg: bool,
        label_smoothing: float,
        r_drop_alpha: float,
        ignore_prefix_size: int = 0,
        report_accuracy: bool = False,
    ) -> None:
        super().__init__(task, sentence_avg, label_smoothing, ignore_prefix_size, report_accuracy)
        self.alpha = r_drop_alpha

    def forward(self, model: Any, sample: Any, reduce: bool = True) -> Any:
        if not model.training:
            return super().forward(model, sample, reduce)
        net_input = {name: torch.cat([value, value]) for name, value in sample["net_input"].items()}
        twice = {**sample, "net_input": net_input, "target": torch.cat([sample["target"], sample["target"]])}
        output = model(**net_input)
        smoothed, nll = self.compute_loss(model, output, twice, reduce)
        logits, target = self.get_lprobs_and_target(model, output, twice)
        first, second = logits.chunk(2)
        disagreement = disagree(first, second, target.chunk(2)[0] != self.padding_idx)
        loss = smoothed + self.alpha * disagreement
        size = sample["target"].size(0) if self.sentence_avg else sample["ntokens"]
        log = {
            "loss": loss.data,
            "nll_loss": nll.data / 2,  # per pass, so that perplexities can be compared
            "disagreement": disagreement.data,
            "ntokens": sample["ntokens"],
            "nsentences": sample["target"].size(0),
            "sample_size": size,
        }
        if self.report_accuracy:
            n_correct, total = self.compute_accuracy(model, output, twice)
            log |= {"n_correct": utils.item(n_correct) / 2, "total": utils.item(total) / 2}  # per pass
        return loss, size, log

    @classmethod
    def reduce_metrics(cls, logging_outputs: list[dict[str, Tensor | int]]) -> None:
        super().reduce_metrics(logging_outputs)
        twice = [log for log in logging_outputs if "disagreement" in log]  # held-out data had one pass
        if twice:
            total, tokens = (utils.item(sum(log[name] for log in twice)) for name in ("disagreement", "ntokens"))
            metrics.log_scalar("disagreement", total / tokens, tokens, round=3)  # nats per token
