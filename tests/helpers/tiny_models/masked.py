"""A tiny masked model and a batch for it, which several tests share."""

from argparse import Namespace
from types import SimpleNamespace
from typing import Any

import torch
from tiny_models.tiny import PAD, SIZE, dictionary

from realformer_nmt.model.presets import FAMILIES, KINDS
from realformer_nmt.single_stack.masked_model import MaskedModel

ENCODER = {name: size for name, size in SIZE.items() if name.startswith("encoder_")}
HEADS: dict[str, Any] = {
    "max_positions": 16,
    "pooler_activation_fn": "tanh",
    "pooler_dropout": 0.0,
    "untie_weights_roberta": False,
}
NO_DROPOUT = dict.fromkeys(("dropout", "attention_dropout", "activation_dropout"), 0.0)
TOKENS = torch.tensor([[2, 5, 7, 6, 2, 1], [2, 8, 4, 6, 5, 2], [2, 6, 4, 2, 1, 1]])
MASKED = torch.tensor([[0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 1, 0], [0, 0, 0, 0, 0, 0]], dtype=torch.bool)
TARGET = TOKENS.masked_fill(~MASKED, PAD)


def masked_task() -> SimpleNamespace:
    return SimpleNamespace(source_dictionary=dictionary(), cfg=SimpleNamespace(tokens_per_sample=16))


def build(family: str, **options: Any) -> MaskedModel:
    torch.manual_seed(1)
    kind = KINDS["bert"].options
    args = ENCODER | HEADS | kind | NO_DROPOUT | FAMILIES[family] | {"score_length": 16} | options
    return MaskedModel.build_model(Namespace(**args), masked_task())
