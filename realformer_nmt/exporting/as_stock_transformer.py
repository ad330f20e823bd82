"""The plain form of a model: options and weights with which fairseq's own `transformer` computes the same."""

import argparse
from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import NamedTuple

import torch

from realformer_nmt.checkpoints.averaging import tied
from realformer_nmt.checkpoints.files.checkpoint_fields import Options
from realformer_nmt.common.errors import UserError
from realformer_nmt.exporting.folding import Weights, fold
from realformer_nmt.exporting.loaded_run import LoadedRun
from realformer_nmt.model.config import SIDES, TranslationConfig
from realformer_nmt.model.models.model import read_options
from realformer_nmt.model.part_names import FAMILY_OPTIONS

OF_RUNNING = ("decoding_precision", "checkpoint_activations", "carry_embeddings")
OF_PATTERNS = ("encoder_attention_pattern", "encoder_window", "encoder_global_tokens", "encoder_relative_positions")
# Options that fairseq's transformer does not have
EXTRA_OPTIONS = {*FAMILY_OPTIONS, "residual_blocks", "score_length", *OF_PATTERNS, *OF_RUNNING}
TABLES = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "decoder.output_projection.weight")


# Scalings whose shortcuts leave the stream as it is
PLAIN = ("none", "b2t", "ds_init", "layer_scale", "pro_res", "sub_ln", "t_fixup")
FOLDED = (*PLAIN, "admin", "admin_decayed", "admin_fixed", "deepnorm", "keel")
SCALINGS = {"post": FOLDED, "pre": PLAIN}  # by topology


class StockTransformer(NamedTuple):
    options: Options  # of fairseq's transformer
    weights: Weights  # in fp32; shared weights are one tensor


def of(source: LoadedRun) -> StockTransformer:
    config = read_options(TranslationConfig, argparse.Namespace(**source.options))
    check_form(source, config)
    state = source.model.state_dict()
    weights = {name: tensor.to(torch.float64, copy=True) for name, tensor in state.items() if "_shortcut." not in name}
    for side in SIDES:
        fold(side, getattr(source.model, side), weights)
    single = rounded(weights, tied(state))
    check_finite(source, single)
    return StockTransformer(stock_options(config, single), single)


def check_finite(source: LoadedRun, weights: Weights) -> None:
    for name, weight in weights.items():
        if not weight.isfinite().all():
            raise UserError(
                f"{source.path}: {name} leaves fp32's range when shortcuts are folded into it; "
                "--to onnx takes every model"
            )


def check_form(source: LoadedRun, config: TranslationConfig) -> None:
    allowed: dict[str, Collection[str]] = {
        "residual_topology": SCALINGS,
        "residual_scaling": SCALINGS.get(config.residual_topology, ()),
        "score_source": ("dot",),
        "score_carry": ("none",),
        "norm": ("layer",),
        "heads": ("plain",),
    }
    for part, names in allowed.items():
        if getattr(config, part) not in names:
            raise UserError(
                f"{source.path} has --{part.replace('_', '-')} {getattr(config, part)}, which fairseq's transformer "
                f"does not support; it supports {' and '.join(names)}, and --to onnx supports every model"
            )


def rounded(weights: Weights, ties: Mapping[str, str]) -> Weights:
    """Return the weights in fp32; tied weights stay shared where they are still equal."""
    single = {name: weight.float() for name, weight in weights.items()}
    twins = {name: single[ties.get(name, name)] for name in single}
    return {name: twins[name] if torch.equal(weight, twins[name]) else weight for name, weight in single.items()}


def stock_options(config: TranslationConfig, weights: Weights) -> Options:
    options: dict[str, object] = {
        name: value for name, value in asdict(config).items() if name not in EXTRA_OPTIONS and not name.startswith("_")
    }
    for side in SIDES:
        options[f"{side}_normalize_before"] = f"{side}.layer_norm.weight" in weights
        options[f"{side}_learned_pos"] = f"{side}.embed_positions.weight" in weights
    source, target, output = (weights[name] for name in TABLES)
    shared = output is target
    return {**options, "share_decoder_input_output_embed": shared, "share_all_embeddings": shared and target is source}
