"""Models without data: as much of a task as building one takes."""

from types import SimpleNamespace
from typing import Any

import torch
from fairseq.models import MODEL_REGISTRY, BaseFairseqModel
from torch.overrides import TorchFunctionMode

from realformer_nmt.model.model import TranslationModel
from realformer_nmt.model.presets import KINDS

FILLING = {"uniform_", "normal_", "fill_", "zero_"}


class Words:
    """A dictionary that knows its size and fairseq's index of padding."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Words) and len(other) == len(self)

    def pad(self) -> int:
        return 1


def skeleton(cfg: Any, source_words: int, target_words: int) -> TranslationModel:
    task = SimpleNamespace(source_dictionary=Words(source_words), target_dictionary=Words(target_words))
    return TranslationModel.build_model(cfg, task)


class Unfilled(TorchFunctionMode):
    """No first values are drawn: of tensors without memory that takes nine tenths of the time of building a model."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(function, "__name__", "") in FILLING:
            return args[0] if args else kwargs["tensor"]  # torch.nn.init names it
        return function(*args, **(kwargs or {}))


def parameters(cfg: Any, source_words: int, target_words: int) -> int:
    """How many, counted without memory for any."""
    with torch.device("meta"), Unfilled():
        model = skeleton(cfg, source_words, target_words)
    return sum(parameter.numel() for parameter in model.parameters())


def one_side_skeleton(kind: str, cfg: Any, words: int) -> BaseFairseqModel:
    """With the classification heads that its checkpoint has."""
    task = SimpleNamespace(source_dictionary=Words(words), target_dictionary=Words(words), cfg=SimpleNamespace())
    cfg.load_checkpoint_heads = True
    model: BaseFairseqModel = MODEL_REGISTRY[KINDS[kind].model].build_model(cfg, task)
    return model
