"""--best-checkpoint-metric of a metric that no validation logs."""

from typing import Any

from fairseq import checkpoint_utils
from fairseq.data import data_utils
from fairseq.logging import metrics

from realformer_nmt.common.errors import OptionError
from realformer_nmt.fairseq_patches.patch import Original, patch


@patch(checkpoint_utils, "load_checkpoint")
def try_the_best_metric(original: Original, cfg: Any, trainer: Any, **options: Any) -> Any:
    """Try --best-checkpoint-metric on one sentence before the first update.

    fairseq fails at the first validation, after an epoch, and saves nothing (fairseq_cli/train.py).
    """
    loaded = original(cfg, trainer, **options)
    metric = cfg.best_checkpoint_metric
    is_logged = metric == "loss" or (metric == "bleu" and getattr(trainer.cfg.task, "eval_bleu", False))
    if not is_logged and not trainer.cfg.dataset.disable_validation:
        names = metrics_of_validation(trainer)
        if metric not in names:
            hint = ", or --eval-bleu" if metric == "bleu" else ""
            raise OptionError(
                f"--best-checkpoint-metric {metric}: no validation logs it; pass one of {', '.join(names)}{hint}"
            )
    return loaded


def metrics_of_validation(trainer: Any) -> list[str]:
    """Return the names that the validation of one sentence logs."""
    dataset = trainer.task.dataset(trainer.cfg.dataset.valid_subset.split(",")[0])
    with data_utils.numpy_seed(trainer.cfg.common.seed), metrics.aggregate(new_root=True) as logged:
        first = dataset.ordered_indices()[0]
        trainer.valid_step(dataset.collater([dataset[first]]))
    return sorted(logged.get_smoothed_values())
