"""Registration with fairseq: patches, models under all their names, optimiser, schedule and loss."""

import functools
from types import SimpleNamespace

from realformer_nmt import fairseq_patches
from realformer_nmt import training as training  # registers the optimiser, the schedule and the loss
from realformer_nmt.common.errors import OptionError, UserError
from realformer_nmt.model import config, presets
from realformer_nmt.model.models import model, multilingual
from realformer_nmt.questions import criterion as criterion  # also registers the task of the same name
from realformer_nmt.single_stack import language_model as language_model  # registers itself, as does the next
from realformer_nmt.single_stack import masked_model as masked_model


@functools.cache
def register() -> None:
    """Patch fairseq and register all models with it; a second call does nothing."""
    fairseq_patches.apply()
    _register(presets.PRESETS, presets.ONE_SIDE_PRESETS)


def add_family(
    name: str,
    topology: str = "post",
    scaling: str = "none",
    source: str = "dot",
    carry: str = "none",
    norm: str | None = None,
    heads: str | None = None,
) -> None:
    """Add a family of models, as an --arch in every size; to be called from a --user-dir of yours.

    A part of yours must be in its table before; if no model has these parts, an OptionError is raised.
    """
    register()  # or a later call would register the family once more
    added = presets.in_every_size({name: presets.family(topology, scaling, source, carry, norm, heads)})
    one_sided = {kind: presets.of_kind(kind, {name: added[name]}) for kind in presets.KINDS}
    try:
        config.validate(model.read_options(config.TranslationConfig, SimpleNamespace(**added[name])))
    except UserError as error:
        raise OptionError(f"add_family({name!r}): {error}") from error
    _register(added, one_sided)
    presets.FAMILIES[name] = added[name]
    presets.PRESETS.update(added)
    for kind, archs in one_sided.items():
        presets.ONE_SIDE_PRESETS[kind].update(archs)


def _register(added: dict[str, presets.Preset], one_sided: dict[str, dict[str, presets.Preset]]) -> None:
    for kind, archs in one_sided.items():
        presets.register(presets.KINDS[kind].model, archs)
    presets.register(model.MODEL, added)
    presets.register(multilingual.MODEL, added, prefix="multilingual_")
