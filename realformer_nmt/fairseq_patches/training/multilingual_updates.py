"""The number of updates in fairseq's task multilingual_translation."""

from typing import Any

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
