"""ADMIN: the profile of one pass in training, and what encoder and decoder compute with it."""

import os
import tempfile
from pathlib import Path

import torch
from authors_layers.same_layers import both, decode, encode, stacks
from authors_layers.same_weights import SHAPE, Outputs, fill, numbers
from torch import nn

from authors_code.layers import fairseq_layers
from authors_code.layers.fairseq_layers import Layers, options
from authors_code.record import Source, load
from realformer_nmt.model.models.admin_profile import profile, shortcuts
from realformer_nmt.model.topologies.shortcuts import Trained

SOURCE = Source(
    "LiyuanLucasLiu/Transformer-Clinic",
    "70f72b708ab074db5ca3726494e3263516041159",
    "fairseq/fairseq/modules/transformer_layer.py",
)
OFF = dict.fromkeys(("plot_variance", "plot_gradient", "plot_stability", "mixed_precision", "fp16"), False)


def theirs(checkout: Path) -> Outputs:
    code = load(checkout / SOURCE.file)
    cfg = options(init_type="adaptive-profiling", **OFF)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # where they write the profile
        encoder = numbered(code.TransformerEncoderLayer, cfg)
        decoder = numbered(code.TransformerDecoderLayer, cfg)
        fairseq_layers.both(encoder.train(), decoder.train())
    ratios = {
        name: torch.stack([p.detach()[0] for key, p in side.named_parameters() if "ratio_change" in key])
        for name, side in (("encoder_profile", encoder), ("decoder_profile", decoder))
    }
    return ratios | fairseq_layers.both(encoder.eval(), decoder.eval())


def numbered(kind: type[nn.Module], cfg: object) -> Layers:
    numbers_of_layers = iter(range(cfg.encoder_layers))
    side = fill(Layers(lambda cfg: kind(cfg, LayerNum=next(numbers_of_layers)), cfg))
    for name, parameter in side.named_parameters():
        if "ratio_change" in name:
            parameter.data.fill_(1)
    return side


def ours() -> Outputs:
    encoder, decoder = stacks(residual_scaling="admin")
    for _, shortcut in (*shortcuts(encoder), *shortcuts(decoder)):
        if isinstance(shortcut, Trained):
            shortcut.delta.data.zero_()
    x = numbers("input", *SHAPE)
    profile([encoder, decoder], lambda: (encode(encoder, x), decode(decoder, x)))
    ratios = {
        f"{name}_profile": torch.stack([shortcut.weight().mean() for _, shortcut in shortcuts(side)]).detach()
        for name, side in (("encoder", encoder), ("decoder", decoder))
    }
    return ratios | both(encoder, decoder)
