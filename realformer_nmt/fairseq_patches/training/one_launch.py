"""--num-batch-buckets on a GPU: steps of few shapes are recorded and replayed (training/recorded_steps.py)."""

import logging
import os
from typing import Any

from fairseq.tasks.translation import TranslationTask
from fairseq.trainer import Trainer
from torch import nn

from realformer_nmt.fairseq_options import CRITERIA
from realformer_nmt.fairseq_patches.patch import Original, patch
from realformer_nmt.model.models.model import TranslationModel
from realformer_nmt.training.recorded_steps import CudaRecorder, ModelInTraining, RecordedSteps

logger = logging.getLogger(__name__)
VARIABLE = "REALFORMER_NMT_GRAPHS"  # 0 turns recording off in training, 1 on in decoding


@patch(Trainer, "__init__")
def record_steps(original: Original, trainer: Any, *args: Any, **kwargs: Any) -> None:
    """Record the step of each batch shape on a GPU: in fairseq two thirds of a step are launches from Python."""
    original(trainer, *args, **kwargs)
    trainer.task.recorded_steps = RecordedSteps(CudaRecorder()) if can_record(trainer) else None


def can_record(trainer: Any) -> bool:
    """Tell whether a training's batches have few shapes, and its steps nothing but what a replay repeats."""
    has_few_shapes = trainer.cuda and getattr(trainer.cfg.task, "num_batch_buckets", 0) > 0
    obstacles = [name for name, stands in obstacles_of(trainer).items() if stands] if has_few_shapes else []
    if obstacles:
        logger.info("steps are not recorded, because of %s", ", ".join(obstacles))
    return has_few_shapes and not obstacles


def obstacles_of(trainer: Any) -> dict[str, bool]:
    """Return what cannot be replayed, and whether this training has it; --encoder-layerdrop is refused everywhere."""
    cfg = trainer.cfg
    backend = cfg.distributed_training.ddp_backend
    return {
        f"{VARIABLE}=0": os.environ.get(VARIABLE, "1") == "0",
        "a model of another package": not isinstance(trainer.get_model(), TranslationModel),
        "--checkpoint-activations": getattr(cfg.model, "checkpoint_activations", False),
        "--amp": cfg.common.amp,
        f"--criterion {cfg.criterion._name}": cfg.criterion._name not in CRITERIA,
        "--report-accuracy": getattr(cfg.criterion, "report_accuracy", False),
        "--heartbeat-timeout": cfg.distributed_training.heartbeat_timeout > 0 and trainer.data_parallel_world_size > 1,
        f"--ddp-backend {backend}": trainer.data_parallel_world_size > 1 and backend not in ("legacy_ddp", "no_c10d"),
    }


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
    if not steps or ignore_grad or has_hooks(model):
        return run()
    model.set_num_updates(update_num)
    return steps.step(ModelInTraining(model, criterion, optimizer), sample, run)


def has_hooks(model: nn.Module) -> bool:
    """Tell whether something watches the modules, such as fairseq's search for NaN: a replay calls no hook."""
    return any(module._forward_hooks for module in model.modules())
