"""ADMIN: the profile of one pass in training, and what encoder and decoder compute with it."""

import os
import tempfile
from argparse import Namespace
from pathlib import Path

import torch
from same_weights.draws import Outputs, fill
from torch import nn

from authors_code.layers import fairseq_layers
from authors_code.layers.fairseq_layers import Layers, options
from authors_code.record import Source, load

SOURCE = Source(
    "LiyuanLucasLiu/Transformer-Clinic",
    "70f72b708ab074db5ca3726494e3263516041159",
    "fairseq/fairseq/modules/transformer_layer.py",
)
OFF = dict.fromkeys(("plot_variance", "plot_gradient", "plot_stability", "mixed_precision", "fp16"), False)


def run_code(checkout: Path) -> Outputs:
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


def numbered(kind: type[nn.Module], cfg: Namespace) -> Layers:
    numbers_of_layers = iter(range(cfg.encoder_layers))
    side = fill(Layers(lambda cfg: kind(cfg, LayerNum=next(numbers_of_layers)), cfg))
    for name, parameter in side.named_parameters():
        if "ratio_change" in name:
            parameter.data.fill_(1)
    return side
