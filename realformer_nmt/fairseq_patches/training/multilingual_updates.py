"""Updates of fairseq's task multilingual_translation: their number, and their gradients on many ranks."""

import copy
from typing import Any

from fairseq import models
from fairseq.models import FairseqMultiModel
from fairseq.tasks.multilingual_translation import MultilingualTranslationTask

from realformer_nmt.fairseq_patches.patch import Original, patch


@patch(MultilingualTranslationTask, "train_step")
def pass_on_the_number_of_updates(
    original: Original,
    task: Any,
    sample: Any,
    model: Any,
    criterion: Any,
    optimizer: Any,
    update_num: int,
    **kwargs: Any,
) -> Any:
    """Pass on the number of updates in `--task multilingual_translation`.

    fairseq does so in most tasks, but not in this one: the branches of ProRes would never open.
    """
    model.set_num_updates(update_num)
    return original(task, sample, model, criterion, optimizer, update_num, **kwargs)


@patch(models, "DistributedFairseqModel")
def average_the_gradients_of_every_pair(
    original: Original, settings: Any, model: Any, *args: Any, **kwargs: Any
) -> Any:
    """Average gradients over the ranks by legacy_ddp in `--task multilingual_translation`.

    fairseq's default, pytorch_ddp, averages none, as the task calls the models of the pairs within it
    (tasks/multilingual_translation.py). On the CPU every rank then trains a model of its own, on GPUs the training ends
    at the first update.
    """
    if isinstance(model, FairseqMultiModel) and settings.ddp_backend in ("c10d", "pytorch_ddp"):
        settings = copy.copy(settings)
        settings.ddp_backend = "legacy_ddp"
    return original(settings, model, *args, **kwargs)
