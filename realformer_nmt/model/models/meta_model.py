"""Models built without data, from the sizes of their vocabularies."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
from fairseq.models import MODEL_REGISTRY, BaseFairseqModel
from torch import Tensor
from torch.nn import init
from torch.overrides import TorchFunctionMode

from realformer_nmt.model.models.model import TranslationModel
from realformer_nmt.model.presets import KINDS, kind_of

FILLING = (Tensor.normal_, Tensor.uniform_, init.normal_, init.uniform_, init.kaiming_uniform_)


@dataclass(frozen=True)
class Words:
    """Stand-in for a dictionary, with its size and fairseq's index of padding."""

    size: int

    def __len__(self) -> int:
        return self.size

    def pad(self) -> int:
        return 1


def skeleton(cfg: Any, source_words: int, target_words: int) -> TranslationModel:
    task = SimpleNamespace(source_dictionary=Words(source_words), target_dictionary=Words(target_words))
    return TranslationModel.build_model(cfg, task)


def any_skeleton(arch: str | None, cfg: Any, *words: int) -> BaseFairseqModel:
    """Build a model of any --arch; `words` are the vocabulary sizes, one per side."""
    kind = kind_of(arch)
    return skeleton(cfg, *words) if kind is None else one_side_skeleton(kind, cfg, *words)


def parameters(cfg: Any, source_words: int, target_words: int) -> int:
    """Return the number of a model's parameters, without memory for them."""
    with torch.device("meta"):
        model = skeleton(cfg, source_words, target_words)
    return sum(parameter.numel() for parameter in model.parameters())


class WithoutData(TorchFunctionMode):
    """Mode for meta tensors, which have no data: Tensor.cpu, which BERT's initialisation calls, does nothing, and
    random values are not drawn, which would take most of the time."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is Tensor.cpu or func in FILLING:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


def outline(cfg: Any, task: Any) -> BaseFairseqModel:
    """Build a task's model without memory for its weights."""
    with torch.device("meta"), WithoutData():
        model: BaseFairseqModel = task.build_model(cfg)
    return model


def one_side_skeleton(kind: str, cfg: Any, words: int) -> BaseFairseqModel:
    """Build a model with one side, and the classification heads that its checkpoint has."""
    task = SimpleNamespace(source_dictionary=Words(words), target_dictionary=Words(words), cfg=SimpleNamespace())
    cfg.load_checkpoint_heads = True
    model: BaseFairseqModel = MODEL_REGISTRY[KINDS[kind].model].build_model(cfg, task)
    return model
