"""--bf16 in training without a TPU, in resumed training, and in decoding."""

import logging
import sys
from collections.abc import Mapping
from typing import Any

import torch
from fairseq import options
from fairseq.models import BaseFairseqModel
from fairseq.optim import FP16Optimizer
from torch import Tensor

from realformer_nmt.fairseq_patches.patch import Original, patch, replace

MASTERS = "fp32_weights"
logger = logging.getLogger(__name__)


@patch(options, "parse_args_and_arch")
def train_in_bf16_without_tpu(
    original: Original, parser: Any, input_args: list[str] | None = None, *args: Any, **kwargs: Any
) -> Any:
    """Turn off --tpu unless it was passed: --bf16 turns it on (options.py), and fails without torch_xla (issue 4696 of
    facebookresearch/fairseq)."""
    parsed = original(parser, input_args, *args, **kwargs)
    settings = parsed[0] if isinstance(parsed, tuple) else parsed
    if getattr(settings, "tpu", False) and "--tpu" not in (sys.argv if input_args is None else input_args):
        settings.tpu = False
    return parsed


@patch(BaseFairseqModel, "prepare_for_inference_")
def decode_in_bf16(original: Original, model: BaseFairseqModel, cfg: Any) -> None:
    """Cast models for --bf16: fairseq-generate and -interactive decode in fp32."""
    if cfg.common.bf16:
        model.bfloat16()
    original(model, cfg)


def resume_with_the_fp32_weights() -> None:
    """Save the fp32 weights of --bf16 and --fp16: without them a resumed run begins with rounded ones."""
    replace(FP16Optimizer, "state_dict", with_masters)
    replace(FP16Optimizer, "load_state_dict", load_masters)


def with_masters(original: Original, optimizer: FP16Optimizer) -> dict[str, object]:
    return {**original(optimizer), MASTERS: [weights.data for weights in masters(optimizer)]}


def load_masters(
    original: Original, optimizer: FP16Optimizer, state: Mapping[str, Any], *args: Any, **kwargs: Any
) -> None:
    original(optimizer, {name: value for name, value in state.items() if name != MASTERS}, *args, **kwargs)
    pairs = zip(masters(optimizer), state.get(MASTERS, ()), strict=False)
    changed = sum(restore(weights.data, saved, optimizer.fp16_params[0].dtype) for weights, saved in pairs)
    if changed:
        logger.warning(
            "%d weights of the checkpoint's model were changed after its training: it goes on from them", changed
        )


def restore(weights: Tensor, saved: Tensor, low: torch.dtype) -> int:
    """Set loaded weights to the saved ones that round to them; return the number of others, as in an averaged model."""
    loaded = weights.to(saved.device)
    same = saved.to(low).to(saved.dtype) == loaded
    weights.copy_(torch.where(same, saved, loaded))
    return same.numel() - int(same.sum())


def masters(optimizer: FP16Optimizer) -> list[Tensor]:
    """Return the fp32 weights: one tensor per weight, or one per device."""
    weights = optimizer.fp32_params
    return list(weights.values()) if isinstance(weights, dict) else weights
