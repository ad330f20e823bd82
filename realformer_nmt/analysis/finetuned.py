"""Held-out text of masked models that were finetuned: sentences with labels, and questions. What is lost is of their
heads; all else is measured of the encoder, as of any masked model."""

from pathlib import Path
from typing import Any

import torch
from fairseq.data import Dictionary
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss

from realformer_nmt.analysis.one_text import OneText
from realformer_nmt.analysis.text import Batch
from realformer_nmt.common.errors import UserError
from realformer_nmt.data_bins import targets
from realformer_nmt.data_bins.note import demand_prepared


class Judged(OneText):
    """Sentences, or pairs, of which a class or numbers are told."""

    @staticmethod
    def demand(data: Path, subset: str) -> None:
        if not (data / "input0" / f"{subset}.idx").is_file():
            raise UserError(f"{data} holds no sentences input0/{subset}.idx: give another --subset or --data")
        targets.demand_labels(data, subset)

    def prepare(self, model: Any) -> None:
        name = self.task.cfg.classification_head_name
        if name not in model.classification_heads:
            model.register_classification_head(name, num_classes=self.task.cfg.num_classes)

    def number(self, batch: Batch) -> int:
        return batch.target.numel()

    def lost(self, model: nn.Module, batch: Batch) -> Tensor:
        head = {"features_only": True, "classification_head_name": self.task.cfg.classification_head_name}
        logits = model(**batch.inputs, **head)[0].float()
        if self.task.cfg.regression_target:
            return mse_loss(logits.view(-1), batch.target.float().view(-1), reduction="sum")
        return cross_entropy(logits, batch.target.view(-1), reduction="sum")

    def tokens(self, line: str) -> Tensor:
        begin = [] if self.task.cfg.init_token is None else [self.task.cfg.init_token]
        return framed(begin, line, self.dictionaries[0])


class Asked(OneText):
    """Windows of questions and their contexts, in which start and end of an answer are told."""

    @staticmethod
    def demand(data: Path, subset: str) -> None:
        path = data / f"{subset}.json"
        demand_prepared(path)
        if not path.is_file():
            raise UserError(f"{path} is not there: give another --subset, or --data that holds it")

    def prepare(self, model: Any) -> None:
        if model.span_head is None:
            model.add_span_head()

    def number(self, batch: Batch) -> int:
        return len(batch.target)

    def lost(self, model: nn.Module, batch: Batch) -> Tensor:
        """Half of what start and end lose."""
        logits = model(**{**batch.inputs, **batch.more})
        return cross_entropy(logits, batch.target, reduction="sum") / 2

    def tokens(self, line: str) -> Tensor:
        return framed([self.dictionaries[0].bos()], line, self.dictionaries[0])

    def _batch(self, places: list[int]) -> Batch:
        found = super()._batch(places)
        (samples,) = self.sides
        given = samples.collater([samples[place] for place in places])["net_input"]
        return found._replace(more={name: given[name] for name in ("src_lengths", "context")})


def framed(begin: list[int], line: str, words: Dictionary) -> Tensor:
    """A sentence alone, 1 x T."""
    encoded = words.encode_line(line, add_if_not_exist=False).long()
    return torch.cat([torch.tensor(begin, dtype=torch.long), encoded])[None]
