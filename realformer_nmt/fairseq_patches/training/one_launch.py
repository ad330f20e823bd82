"""--num-batch-buckets on a GPU: steps of few shapes are recorded and replayed (training/recorded_steps.py)."""

import os
from typing import Any

from fairseq.tasks.translation import TranslationTask
from fairseq.trainer import Trainer

from realformer_nmt.fairseq_patches.patch import Original, patch
from realformer_nmt.model.models.model import TranslationModel
from realformer_nmt.training.recorded_steps import CudaRecorder, ModelInTraining, RecordedSteps

VARIABLE = "REALFORMER_NMT_GRAPHS"  # 0 turns recording off


@patch(Trainer, "__init__")
def record_steps(original: Original, trainer: Any, *args: Any, **kwargs: Any) -> None:
    """Record the step of each batch shape on a GPU, and replay it; two thirds of a step in fairseq are launches."""
    original(trainer, *args, **kwargs)
    trainer.task.recorded_steps = RecordedSteps(CudaRecorder()) if can_record(trainer) else None


def can_record(trainer: Any) -> bool:
    """Tell whether a training's batches have few shapes, and nothing in its steps but what a replay repeats."""
    cfg = trainer.cfg
    has_few_shapes = trainer.cuda and getattr(cfg.task, "num_batch_buckets", 0) > 0
    repeats = isinstance(trainer.get_model(), TranslationModel) and not cfg.model.checkpoint_activations
    reduces_after = trainer.data_parallel_world_size == 1 or cfg.distributed_training.ddp_backend == "legacy_ddp"
    return bool(
        has_few_shapes and repeats and reduces_after and not cfg.common.amp and os.environ.get(VARIABLE, "1") != "0"
    )


@patch(Trainer, "zero_grad")
def clear_gradients_in_place(original: Original, trainer: Any) -> None:
    """Keep the gradients' addresses, to which recorded steps add. fairseq removes gradients of 16 bits (fp16)."""
    steps = getattr(trainer.task, "recorded_steps", None)
    if steps:
        steps.clear_gradients(lambda: original(trainer))
    else:
        original(trainer)


@patch(TranslationTask, "train_step")
def replay_steps(
    original: Original,
    task: Any,
    sample: Any,
    model: Any,
    criterion: Any,
    optimizer: Any,
    update_num: int,
    ignore_grad: bool = False,
) -> Any:
    """Replay a step of a known shape. fairseq starts each kernel of a step from Python."""

    def run() -> Any:
        return original(task, sample, model, criterion, optimizer, update_num, ignore_grad)

    steps = getattr(task, "recorded_steps", None)
    if not steps or ignore_grad:
        return run()
    model.set_num_updates(update_num)
    return steps.step(ModelInTraining(model, criterion, optimizer), sample, run)
