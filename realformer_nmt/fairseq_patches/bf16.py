"""--bf16 in training without a TPU, in resumed training, and in decoding."""

import argparse
import functools
import sys
import typing

from fairseq import options
from fairseq.models import BaseFairseqModel
from fairseq.optim import FP16Optimizer
from torch import Tensor

MASTERS = "fp32_weights"


def train_in_bf16_without_tpu() -> None:
    """Turn --tpu off again unless it was passed: --bf16 turns it on (options.py), and fails without torch_xla (issue
    4696 of facebookresearch/fairseq)."""
    original = options.parse_args_and_arch

    @functools.wraps(original)
    def parse_args_and_arch(
        parser: argparse.ArgumentParser, input_args: list[str] | None = None, *args: typing.Any, **kwargs: typing.Any
    ) -> typing.Any:
        parsed = original(parser, input_args, *args, **kwargs)
        settings = parsed[0] if isinstance(parsed, tuple) else parsed
        if getattr(settings, "tpu", False) and "--tpu" not in (sys.argv if input_args is None else input_args):
            settings.tpu = False
        return parsed

    options.parse_args_and_arch = parse_args_and_arch


def decode_in_bf16() -> None:
    """Cast models for --bf16: fairseq-generate and -interactive cast for --fp16 alone, and would decode in fp32."""
    original = BaseFairseqModel.prepare_for_inference_

    @functools.wraps(original)
    def prepare(self: BaseFairseqModel, cfg: typing.Any) -> None:
        original(self, cfg)
        if cfg.common.bf16:
            self.bfloat16()

    BaseFairseqModel.prepare_for_inference_ = prepare


def resume_with_the_fp32_weights() -> None:
    """Save the fp32 weights that --bf16 and --fp16 update: without them a resumed run begins with rounded ones."""
    save, load = FP16Optimizer.state_dict, FP16Optimizer.load_state_dict

    @functools.wraps(save)
    def state_dict(self: FP16Optimizer) -> dict[str, typing.Any]:
        return {**save(self), MASTERS: [weights.data for weights in masters(self)]}

    @functools.wraps(load)
    def load_state_dict(
        self: FP16Optimizer, state: dict[str, typing.Any], *args: typing.Any, **kwargs: typing.Any
    ) -> None:
        load(self, {name: value for name, value in state.items() if name != MASTERS}, *args, **kwargs)
        for weights, saved in zip(masters(self), state.get(MASTERS, ()), strict=False):
            weights.data.copy_(saved)

    FP16Optimizer.state_dict, FP16Optimizer.load_state_dict = state_dict, load_state_dict


def masters(optimizer: FP16Optimizer) -> list[Tensor]:
    """Return the fp32 weights: one tensor per weight, or one per device."""
    weights = optimizer.fp32_params
    return list(weights.values()) if isinstance(weights, dict) else weights
