"""The architectures of this package in fairseq's registries."""

import argparse
import sys
from typing import Any

from fairseq import options
from fairseq.models import ARCH_MODEL_REGISTRY
from omegaconf import open_dict

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.option_choice import not_allowed
from realformer_nmt.fairseq_patches.patch import Original, patch, replace
from realformer_nmt.model import presets


@patch(options, "add_model_args")
def suggest_the_closest(original: Original, parser: argparse.ArgumentParser) -> Any:
    """Suggest the closest --arch for an unknown one: fairseq prints its usage and all architectures' names."""
    group = original(parser)
    parser._option_string_actions["--arch"].type = registered_name
    return group


def registered_name(arch: str) -> str:
    if arch not in ARCH_MODEL_REGISTRY:
        raise UserError(not_allowed("--arch", arch, ARCH_MODEL_REGISTRY))  # a ValueError would print the usage
    return arch


def fill_in_before_hydra() -> None:
    """Fill in an architecture's settings before fairseq-hydra-train's defaults.

    fairseq would train `_name: realformer_tiny` without its settings (dataclass/initialize.py).
    """
    for name in ("fairseq.dataclass.initialize", "fairseq_cli.train", "fairseq_cli.hydra_validate"):
        if name in sys.modules:  # these modules import the function by name
            replace(sys.modules[name], "add_defaults", add_defaults)


def add_defaults(original: Original, cfg: Any) -> None:
    model = cfg.get("model")
    preset = presets.find(getattr(model, "_name", None))
    if preset:
        with open_dict(model):
            presets.filler(preset)(model)
    original(cfg)
