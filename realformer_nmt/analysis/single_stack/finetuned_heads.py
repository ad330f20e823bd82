"""Held-out text of finetuned masked models: sentences with labels, and questions.

The loss is that of the finetuned head; everything else is measured on the encoder, as for any masked model.
"""

from typing import Any

import torch
from fairseq.data import Dictionary
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss

from realformer_nmt.analysis.single_stack.one_text import OneText
from realformer_nmt.analysis.text import Batch


class ClassifiedText(OneText):
    """Sentences or pairs, with a class or a number as target."""

    def prepare(self, model: Any) -> None:
        name = self.task.cfg.classification_head_name
        if name not in model.classification_heads:
            model.register_classification_head(name, num_classes=self.task.cfg.num_classes)

    def target_count(self, batch: Batch) -> int:
        return batch.target.numel()

    def summed_loss(self, model: nn.Module, batch: Batch) -> Tensor:
        head = {"features_only": True, "classification_head_name": self.task.cfg.classification_head_name}
        logits = model(**batch.inputs, **head)[0].float()
        if self.task.cfg.regression_target:
            return mse_loss(logits.view(-1), batch.target.float().view(-1), reduction="sum")
        return cross_entropy(logits, batch.target.view(-1), reduction="sum")

    def tokens(self, line: str) -> Tensor:
        begin = [] if self.task.cfg.init_token is None else [self.task.cfg.init_token]
        return encode_sentence(begin, line, self.dictionaries[0])


class QuestionText(OneText):
    """Windows of questions and contexts, with start and end of the answer as targets."""

    def prepare(self, model: Any) -> None:
        if model.span_head is None:
            model.add_span_head()

    def target_count(self, batch: Batch) -> int:
        return len(batch.target)

    def summed_loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """Return half the sum of the losses of start and end."""
        logits = model(**{**batch.inputs, **batch.more})
        return cross_entropy(logits, batch.target, reduction="sum") / 2

    def tokens(self, line: str) -> Tensor:
        return encode_sentence([self.dictionaries[0].bos()], line, self.dictionaries[0])

    def _batch(self, indices: list[int]) -> Batch:
        (samples,) = self.sides
        inputs = samples.collater([samples[index] for index in indices])["net_input"]
        more = {name: inputs[name] for name in ("src_lengths", "context")}
        return super()._batch(indices)._replace(more=more)


def encode_sentence(begin: list[int], line: str, words: Dictionary) -> Tensor:
    """Return the tokens of one sentence, 1 x T."""
    encoded = words.encode_line(line, add_if_not_exist=False).long()
    return torch.cat([torch.tensor(begin, dtype=torch.long), encoded])[None]
