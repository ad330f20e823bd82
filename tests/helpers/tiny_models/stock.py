"""fairseq's own transformer, of the sizes of tiny.py, and its decoder alone."""

from argparse import Namespace
from typing import Any, NamedTuple

import torch
from fairseq.models import FairseqLanguageModel
from fairseq.models.transformer import TransformerDecoder, TransformerModel
from fairseq.models.transformer.transformer_legacy import base_architecture
from tiny_models.tiny import SIZE, dictionary, task
from torch import Tensor, nn


def stock(before: bool, **options: Any) -> TransformerModel:
    return TransformerModel.build_model(arguments(before, **options), task())


def stock_decoder(before: bool, **options: Any) -> FairseqLanguageModel:
    args = arguments(before, **options)
    words = TransformerModel.build_embedding(args, dictionary(), args.decoder_embed_dim)
    return FairseqLanguageModel(TransformerDecoder(args, dictionary(), words, no_encoder_attn=True))


def arguments(before: bool, **options: Any) -> Namespace:
    args = Namespace(**(SIZE | {"dropout": 0.0} | options))
    args.encoder_normalize_before = args.decoder_normalize_before = before
    args.max_source_positions, args.max_target_positions = options.get("max_source_positions", 1024), 1024
    base_architecture(args)
    return args


def spread(model: nn.Module) -> nn.Module:
    """Every weight at random, the biases among them, which start at 0."""
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model


class Judged(NamedTuple):
    loss: Tensor
    gradients: dict[str, Tensor]


def judged(model: nn.Module, criterion: Any, sample: dict[str, Any]) -> Judged:
    loss, _, _ = criterion(model, sample)
    names, parameters = zip(*model.named_parameters(), strict=True)
    return Judged(loss, dict(zip(names, torch.autograd.grad(loss, parameters), strict=True)))
