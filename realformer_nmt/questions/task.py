"""fairseq's `--task question_answering`: trains on SQuAD's files as they are."""

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq.data import (
    Dictionary,
    FairseqDataset,
    IdDataset,
    ListDataset,
    NestedDictionaryDataset,
    NumelDataset,
    NumSamplesDataset,
    RawLabelDataset,
    RightPadDataset,
    SortDataset,
    data_utils,
)
from fairseq.dataclass import FairseqDataclass
from fairseq.tasks import FairseqTask, register_task
from omegaconf import II, MISSING

from realformer_nmt.common.errors import OptionError, UserError
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.data_bins.file_checks import check_prepared
from realformer_nmt.questions import squad
from realformer_nmt.questions.squad import Question
from realformer_nmt.questions.windows import MODEL, Window, cut_of, windows
from realformer_nmt.single_stack.masked_model import MaskedModel
from realformer_nmt.tasks import QUESTION_ANSWERING

logger = logging.getLogger(__name__)
LEAST = {"tokens_per_sample": 8, "stride": 1}  # a smaller window has no room for question and context


def _option(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass
class QuestionAnsweringConfig(FairseqDataclass):
    data: str = _option(MISSING, "folder of dict.txt, train.json, valid.json and, for subwords, sentencepiece.model")
    tokens_per_sample: int = _option(384, "tokens in a window: question and a part of the context")
    stride: int = _option(128, "tokens from one window of a long context to the next")
    seed: int = II("common.seed")


@register_task(QUESTION_ANSWERING, dataclass=QuestionAnsweringConfig)
class QuestionAnsweringTask(FairseqTask):
    """Task of answering questions by spans, with the dictionary of the masked model."""

    def __init__(self, cfg: QuestionAnsweringConfig, dictionary: Dictionary) -> None:
        super().__init__(cfg)
        for name, least in LEAST.items():
            if (value := getattr(cfg, name)) < least:
                raise OptionError(f"--{name.replace('_', '-')} {value} is not possible: pass {least} or more")
        self.dictionary, self.cut = dictionary, cut_of(Path(cfg.data))
        model = Path(cfg.data) / MODEL
        self.subwords = sha256(model) if model.exists() else "white space"

    @classmethod
    def setup_task(cls, cfg: QuestionAnsweringConfig, **_: Any) -> "QuestionAnsweringTask":
        dictionary = Dictionary.load(str(Path(cfg.data) / "dict.txt"))
        dictionary.add_symbol("<mask>")
        return cls(cfg, dictionary)

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> MaskedModel:
        model = super().build_model(cfg, from_checkpoint)
        if not isinstance(model, MaskedModel):
            raise OptionError(
                f"--task {QUESTION_ANSWERING} is for masked models of this package: pass --arch <family>_bert_<size>"
            )
        model.add_span_head()
        return model

    def load_dataset(self, split: str, **_: Any) -> FairseqDataset:
        path = Path(self.cfg.data) / f"{split}.json"
        check_prepared(path)
        questions = squad.read(path)
        squad.check_in_place(path, questions)
        windows = self.windows(questions)
        unknown = sum(window.tokens.count(self.dictionary.unk()) for window in windows)
        share = unknown / sum(len(window.tokens) for window in windows)
        logger.info(f"{path}: {len(questions):,} questions, {len(windows):,} windows, {share:.1%} of tokens unknown")
        with data_utils.numpy_seed(self.cfg.seed):
            order = np.random.permutation(len(windows))
        self.datasets[split] = SortDataset(dataset(windows, self.dictionary.pad()), [order])
        return self.datasets[split]

    def windows(self, questions: list[Question]) -> list[Window]:
        cut = list(windows(questions, self.cut, self.dictionary, self.cfg.tokens_per_sample, self.cfg.stride))
        if all(window.context + 1 == len(window.tokens) for window in cut):
            raise UserError(f"{self.cfg.data}: no question has a context with a word; {squad.HINT}")
        return cut

    def max_positions(self) -> int:
        return int(self.cfg.tokens_per_sample)

    @property
    def source_dictionary(self) -> Dictionary:
        return self.dictionary

    @property
    def target_dictionary(self) -> Dictionary:
        return self.dictionary


def dataset(windows: list[Window], pad: int) -> NestedDictionaryDataset:
    sizes = np.array([len(window.tokens) for window in windows])
    tokens = ListDataset([torch.tensor(window.tokens) for window in windows], sizes)
    columns = {
        "id": IdDataset(),
        "net_input": {
            "src_tokens": RightPadDataset(tokens, pad_idx=pad),
            "src_lengths": NumelDataset(tokens),
            "context": RawLabelDataset([window.context for window in windows]),
        },
        "target": RawLabelDataset([window.span for window in windows]),
        "nsentences": NumSamplesDataset(),
        "ntokens": NumelDataset(tokens, reduce=True),
    }
    return NestedDictionaryDataset(columns, sizes=[sizes])
