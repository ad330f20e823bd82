"""--num-batch-buckets: training batches of few shapes, in any numpy, on any device."""

from typing import Any

from fairseq.tasks import translation
from fairseq.tasks.translation import TranslationTask

from realformer_nmt.data_bins.length_ladder import LadderDataset
from realformer_nmt.fairseq_patches.patch import Original, patch


@patch(translation, "load_langpair_dataset")
def leave_lengths_as_they_are(original: Original, *args: Any, **options: Any) -> Any:
    """Leave the sentences themselves unpadded under --num-batch-buckets.

    fairseq pads them when they are read, validation's as well, and fails with numpy 2.4 (bucket_pad_length_dataset.py).
    """
    return original(*args, **options | {"num_buckets": 0})


@patch(TranslationTask, "load_dataset")
def train_on_few_shapes(original: Original, task: Any, split: str, *args: Any, **options: Any) -> None:
    """Cut training batches by a ladder of 17 lengths for --num-batch-buckets, whatever number it has.

    fairseq takes its buckets as upper bounds, and their last batches are short: there are many shapes
    (data/data_utils_fast.pyx).
    """
    original(task, split, *args, **options)
    if task.cfg.num_batch_buckets and split == task.cfg.train_subset:
        task.datasets[split] = LadderDataset(task.datasets[split])


@patch(TranslationTask, "train_step")
def count_no_fillers(
    original: Original, task: Any, sample: Any, model: Any, criterion: Any, *args: Any, **options: Any
) -> Any:
    """Count a batch's sentences without its fillers, for --sentence-avg as well: fairseq counts rows (criterions/)."""
    loss, sample_size, logging_output = original(task, sample, model, criterion, *args, **options)
    if sample["nsentences"] < len(sample["target"]):
        logging_output["nsentences"] = sample["nsentences"]
        if getattr(criterion, "sentence_avg", False):
            sample_size = logging_output["sample_size"] = sample["nsentences"]
    return loss, sample_size, logging_output
