"""What goes into fairseq: the changes that it needs, the models under all their names, what training needs."""

import functools

from realformer_nmt import fairseq_patches
from realformer_nmt import training as training  # registers the optimiser, the schedule and the loss
from realformer_nmt.model import model, multilingual, presets


@functools.cache
def register() -> None:
    """Once a process: a second call changes nothing."""
    fairseq_patches.apply()
    presets.register(model.MODEL)
    presets.register(multilingual.MODEL, prefix="multilingual_")
