"""What goes into fairseq: the changes that it needs, the models under all their names, what training needs."""

import functools

from realformer_nmt import fairseq_patches
from realformer_nmt import training as training  # registers the optimiser, the schedule and the loss
from realformer_nmt.model import model, multilingual, presets


@functools.cache
def register() -> None:
    """Once a process: a second call changes nothing."""
    fairseq_patches.apply()
    _register(presets.PRESETS)


def add_family(
    name: str, topology: str = "post", scaling: str = "none", source: str = "dot", carry: str = "none"
) -> None:
    """Another row of the table of families, from a --user-dir of one's own: it becomes an --arch in every size."""
    added = presets.in_every_size({name: presets.family(topology, scaling, source, carry)})
    _register(added)
    presets.FAMILIES[name] = added[name]
    presets.PRESETS.update(added)


def _register(added: dict[str, presets.Preset]) -> None:
    presets.register(model.MODEL, added)
    presets.register(multilingual.MODEL, added, prefix="multilingual_")
