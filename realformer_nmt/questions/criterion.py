"""fairseq's `--criterion question_answering`: the loss of an answer's start and end."""

import math
from collections.abc import Mapping
from typing import Any

from fairseq.criterions import FairseqCriterion, register_criterion
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from realformer_nmt.questions import task as task  # registers itself
from realformer_nmt.tasks import QUESTION_ANSWERING

Sums = dict[str, Tensor | int]  # of a batch, by the names that fairseq logs


@register_criterion(QUESTION_ANSWERING, dataclass=FairseqDataclass)
class SpanLoss(FairseqCriterion):
    """The mean of the cross-entropies of start and end (Devlin et al. 2019, section 4.2).

    Accuracy counts the windows whose start and end are both right.
    """

    def forward(self, model: nn.Module, sample: Mapping[str, Any], reduce: bool = True) -> tuple[Tensor, int, Sums]:
        del reduce  # fairseq asks for the sum everywhere
        logits, target = model(**sample["net_input"]), sample["target"]  # B x T x 2, B x 2
        loss = cross_entropy(logits, target, reduction="sum") / 2
        right = (logits.argmax(1) == target).all(1).sum()
        number = target.size(0)
        sums: Sums = {"loss": loss.data, "ncorrect": right, "nsentences": number, "sample_size": number}
        return loss, number, {**sums, "ntokens": sample["ntokens"]}

    @classmethod
    def reduce_metrics(cls, logging_outputs: list[Sums]) -> None:
        outputs = list(filter(None, logging_outputs))  # of a rank without a batch there are none (ranks.py)
        number = sum(int(output["nsentences"]) for output in outputs)
        loss = sum(float(output["loss"]) for output in outputs)
        right = sum(float(output["ncorrect"]) for output in outputs)
        metrics.log_scalar("loss", loss / number / math.log(2), number, round=3)
        metrics.log_scalar("accuracy", 100 * right / number, number, round=1)

    @staticmethod
    def logging_outputs_can_be_summed() -> bool:
        return True
