"""Inspection of a checkpoint: architecture, choices, parameters, and the weight of every shortcut."""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from fairseq.models import BaseFairseqModel
from msgspec.structs import replace
from torch import Tensor

from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.checkpoints.files.checkpoint_fields import Options
from realformer_nmt.checkpoints.model_description import ModelDescription, ShortcutWeight
from realformer_nmt.common import error_messages
from realformer_nmt.common.errors import UserError
from realformer_nmt.model import presets
from realformer_nmt.model.config import TranslationConfig
from realformer_nmt.model.models.admin_profile import shortcuts
from realformer_nmt.model.models.meta_model import one_side_skeleton, skeleton
from realformer_nmt.model.models.model import TranslationModel
from realformer_nmt.model.presets import FAMILIES, PRESETS
from realformer_nmt.model.weights import WeightsError

Model = TypeVar("Model", bound=BaseFairseqModel)
CHOICES = next(iter(FAMILIES.values()))
SIZES = ("encoder_layers", "decoder_layers", "encoder_embed_dim", "decoder_embed_dim")


def inspect(path: Path) -> ModelDescription:
    """Return the description that `realformer-nmt inspect` shows."""
    state = checkpoint_fields.load(path)
    options, weights = checkpoint_fields.options(state), state["model"]
    check_arch(path, options)
    model = build_any(path, options, weights)
    choices = (*CHOICES, *SIZES, *checkpoint_fields.PATTERNS, "encoder_relative_positions", "norm")
    description = ModelDescription(
        arch=arch_of(options),
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        updates=checkpoint_fields.updates(state),
        shortcuts=list(shortcut_weights(model)),
    )
    return replace(description, **{name: options[name] for name in choices if name in options})


def shortcut_weights(model: BaseFairseqModel) -> Iterator[ShortcutWeight]:
    """Yield the mean, smallest and largest weight of every shortcut."""
    for side in ("encoder", "decoder"):
        if hasattr(model, side):
            for name, shortcut in shortcuts(model.get_submodule(side)):
                weight = shortcut.weight().detach()
                yield ShortcutWeight(
                    sublayer=f"{side}.{name.removesuffix('_shortcut')}",
                    mean=float(weight.mean()),
                    smallest=float(weight.min()),
                    largest=float(weight.max()),
                )


def arch_of(options: Options) -> str | None:
    arch = options.get("_name") or options.get("arch")
    return arch if isinstance(arch, str) else None


def check_arch(path: Path, options: Options) -> None:
    """Refuse models that are not of this package."""
    arch = arch_of(options)
    if arch not in PRESETS and not all(choice in options for choice in CHOICES):
        raise UserError(
            f"{path} holds a model of arch {arch}, which is not of this package: `realformer-nmt archs` lists its own"
        )


def build_any(path: Path, options: Options, weights: dict[str, Tensor]) -> BaseFairseqModel:
    """Return a checkpoint's model, which may be an encoder or a decoder alone."""
    kind = presets.kind_of(arch_of(options))
    if kind is None:
        return build(path, options, weights)
    entries = dictionary_size(path, weights, presets.KINDS[kind].embedding)
    # --max-target-positions may be None
    set_options = {name: value for name, value in options.items() if value is not None}
    return build_with_weights(path, set_options, weights, lambda cfg: one_side_skeleton(kind, cfg, entries))


def build(path: Path, options: Options, weights: dict[str, Tensor]) -> TranslationModel:
    """Return a checkpoint's translation model; refuse one that is an encoder or a decoder alone."""
    if presets.kind_of(arch_of(options)):
        raise UserError(f"{path} does not translate, as {arch_of(options)} has one side only: give a translation model")
    source_entries = dictionary_size(path, weights, "encoder.embed_tokens.weight")
    target_entries = dictionary_size(path, weights, "decoder.embed_tokens.weight")
    return build_with_weights(path, options, weights, lambda cfg: skeleton(cfg, source_entries, target_entries))


def build_with_weights(
    path: Path, options: Options, weights: dict[str, Tensor], make: Callable[[argparse.Namespace], Model]
) -> Model:
    """Build a model from options and load its weights; refuse an option whose type differs from its default's."""
    defaults = vars(TranslationConfig())
    for name, value in options.items():
        default = defaults.get(name)
        expected = type(value if default is None else default)
        if not isinstance(value, (int, float) if expected is float else expected):
            raise UserError(f"{path} has {name} {str(value)[:80]!r}, which is not of type {expected.__name__}")
    try:
        model = make(argparse.Namespace(**options))
        model.load_state_dict(weights)
    except WeightsError as error:
        raise UserError(f"{path} {error}") from error
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    except (RuntimeError, MemoryError) as error:
        if error_messages.is_of_memory(error):
            raise UserError(f"{path} {error_messages.TOO_LARGE}") from error
        raise
    return model


def dictionary_size(path: Path, weights: dict[str, Tensor], name: str) -> int:
    """Return the number of entries in a dictionary: the rows of the embedding `name`."""
    weight = weights.get(name)
    if weight is None or weight.dim() != 2:
        problem = "has no" if weight is None else "has no matrix as"
        raise UserError(f"{path} {problem} {name}: it holds the weights of another model")
    return weight.size(0)
