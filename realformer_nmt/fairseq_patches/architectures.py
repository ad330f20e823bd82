"""The architectures of this package in fairseq's registries."""

import functools
import sys
from collections.abc import Callable
from typing import Any

from fairseq import models
from fairseq.dataclass import initialize
from fairseq.models import ARCH_MODEL_REGISTRY
from omegaconf import open_dict

from realformer_nmt.common.errors import OptionError
from realformer_nmt.model import presets


def explain_clashes() -> None:
    """Explain a name that two plug-ins register: microsoft/ResiDual also has a resi_dual, and the first gets it."""
    original = models.register_model_architecture

    @functools.wraps(original)
    def register_model_architecture(model_name: str, arch_name: str) -> Callable[[Any], Any]:
        if presets.find(arch_name) and arch_name in ARCH_MODEL_REGISTRY:
            raise OptionError(
                f"--arch {arch_name} is of realformer_nmt and of another plug-in, and both are imported: give fairseq "
                "one of them as --user-dir, and import one of them in a program"
            )
        return original(model_name, arch_name)

    vars(models)["register_model_architecture"] = register_model_architecture


def fill_in_before_hydra() -> None:
    """Fill in an architecture's settings before fairseq-hydra-train fills in its model's defaults.

    add_defaults (dataclass/initialize.py) does so first: `_name: realformer_tiny` would train without its settings."""
    original = initialize.add_defaults

    @functools.wraps(original)
    def add_defaults(cfg: Any) -> None:
        model = cfg.get("model")
        arch = getattr(model, "_name", None)
        preset = presets.find(arch)
        if preset:
            with open_dict(model):
                presets.filler(preset)(model)
        original(cfg)

    for name in ("fairseq.dataclass.initialize", "fairseq_cli.train", "fairseq_cli.hydra_validate"):
        if name in sys.modules:  # these modules import the function by name
            vars(sys.modules[name])["add_defaults"] = add_defaults
