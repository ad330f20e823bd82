"""--bf16: in training without a TPU, and in decoding at all."""

import argparse
import functools
import sys
import typing

from fairseq import options
from fairseq.models import BaseFairseqModel


def train_in_bf16_without_tpu() -> None:
    """--bf16 on the command line turns on --tpu (options.py), and fails for want of torch_xla on every other machine
    (issue 4696 of facebookresearch/fairseq)."""
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
    """fairseq-generate and fairseq-interactive cast for --fp16 and not for --bf16: they would decode in fp32."""
    original = BaseFairseqModel.prepare_for_inference_

    @functools.wraps(original)
    def prepare(self: BaseFairseqModel, cfg: typing.Any) -> None:
        original(self, cfg)
        if cfg.common.bf16:
            self.bfloat16()

    BaseFairseqModel.prepare_for_inference_ = prepare
