"""What a checkpoint holds: architecture, choices, parameters, and the weight of every shortcut."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from fairseq.models import BaseFairseqModel
from torch import Tensor

from realformer_nmt.checkpoints import layout
from realformer_nmt.common import foreign_errors
from realformer_nmt.common.errors import UserError
from realformer_nmt.model import presets
from realformer_nmt.model.admin_profile import shortcuts
from realformer_nmt.model.config import TranslationConfig
from realformer_nmt.model.model import TranslationModel
from realformer_nmt.model.presets import FAMILIES, PRESETS
from realformer_nmt.model.skeleton import one_side_skeleton, skeleton
from realformer_nmt.model.weights import WeightsError

Model = TypeVar("Model", bound=BaseFairseqModel)
CHOICES = next(iter(FAMILIES.values()))
SIZES = ("encoder_layers", "decoder_layers", "encoder_embed_dim", "decoder_embed_dim")


def inspect(path: Path) -> dict[str, Any]:
    state = layout.load(path)
    options, weights = layout.options(state), state["model"]
    demand_own(path, options)
    model = build_any(path, options, weights)
    return {
        "arch": arch_of(options),
        **{name: options.get(name) for name in (*CHOICES, *SIZES, *layout.BEFORE) if name in options},
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "updates": layout.updates(state),
        "shortcuts": [
            {
                "sublayer": f"{side}.{name.removesuffix('_shortcut')}",
                "mean": float(w.mean()),
                "smallest": float(w.min()),
                "largest": float(w.max()),
            }
            for side in ("encoder", "decoder")
            if hasattr(model, side)
            for name, shortcut in shortcuts(model.get_submodule(side))
            for w in [shortcut.weight().detach()]
        ],
    }


def arch_of(options: dict[str, Any]) -> Any:
    return options.get("_name") or options.get("arch")


def demand_own(path: Path, options: dict[str, Any]) -> None:
    arch = arch_of(options)
    if arch not in PRESETS and not all(choice in options for choice in CHOICES):
        raise UserError(
            f"{path} holds a model of arch {arch}, which is not of this package: `realformer-nmt archs` lists its own"
        )


def build_any(path: Path, options: dict[str, Any], weights: dict[str, Tensor]) -> BaseFairseqModel:
    """A model of one side, too."""
    kind = presets.kind_of(arch_of(options))
    if kind is None:
        return build(path, options, weights)
    words = words_of(path, weights, presets.KINDS[kind].embedding)
    given = {name: value for name, value in options.items() if value is not None}  # --max-target-positions may be
    return filled(path, given, weights, lambda cfg: one_side_skeleton(kind, cfg, words))


def build(path: Path, options: dict[str, Any], weights: dict[str, Tensor]) -> TranslationModel:
    if presets.kind_of(arch_of(options)):
        raise UserError(f"{path} is a model of one text alone, {arch_of(options)}: give one that translates")
    words = [words_of(path, weights, f"{side}.embed_tokens.weight") for side in ("encoder", "decoder")]
    return filled(path, options, weights, lambda cfg: skeleton(cfg, *words))


def filled(
    path: Path, options: dict[str, Any], weights: dict[str, Tensor], make: Callable[[argparse.Namespace], Model]
) -> Model:
    """With options that may be of any kind: they come from a file."""
    defaults = TranslationConfig()
    for name, value in options.items():
        wanted = type(vars(defaults).get(name) if vars(defaults).get(name) is not None else value)
        if not isinstance(value, (int, float) if wanted is float else wanted):
            raise UserError(f"{path} has {name} {str(value)[:80]!r}, which is no {wanted.__name__}")
    try:
        model = make(argparse.Namespace(**options))
        model.load_state_dict(weights)
    except WeightsError as error:
        raise UserError(f"{path} {error}") from error
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    except (RuntimeError, MemoryError) as error:
        if foreign_errors.is_of_memory(error):
            raise UserError(f"{path} {foreign_errors.TOO_LARGE}") from error
        raise
    return model


def words_of(path: Path, weights: dict[str, Tensor], name: str) -> int:
    weight = weights.get(name)
    if weight is None or weight.dim() != 2:
        held = "has no" if weight is None else "has no matrix as"
        raise UserError(f"{path} {held} {name}: it holds the weights of another model")
    return weight.size(0)
