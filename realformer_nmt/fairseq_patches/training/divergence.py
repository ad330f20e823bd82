"""The record of a training that diverged: checkpoints/divergence.json, beside the last good checkpoint.

fairseq ends such a run with a FloatingPointError (gradients that are no numbers, a loss scale at its minimum) and no
details. The record has the update, its sentences, their loss, and the gradient norm of every layer.
"""

import logging
import math
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from fairseq.trainer import Trainer

from realformer_nmt.checkpoints.run_files import DIVERGENCE
from realformer_nmt.common.errors import one_line
from realformer_nmt.common.files.json_records import write_sealed
from realformer_nmt.fairseq_patches.patch import Original, patch

Batch = Mapping[str, Any]  # fairseq's tensors by name, nested as the task has them
logger = logging.getLogger(__name__)
LAYER = re.compile(r".*?\.layers\.\d+|\w+\.\w+")


@patch(Trainer, "train_step")
def note_divergence(original: Original, trainer: Trainer, samples: list[Batch], raise_oom: bool = False) -> Any:
    """Record a divergence, and end by its error.

    On torch >= 2.0 fairseq's search for the first NaN raises StopIteration instead (nan_detector.py). Its hooks meet
    the encoder's dictionary of lists.
    """
    try:
        return original(trainer, samples, raise_oom)
    except (FloatingPointError, StopIteration) as raised:
        error = raised if isinstance(raised, FloatingPointError) else raised.__context__
        if not isinstance(error, FloatingPointError):
            raise
        try:
            write_record(trainer, samples, error)
        except Exception as failure:  # the disk is full, say; the training still ends by the divergence
            logger.warning("the divergence is not noted: %s: %s", type(failure).__name__, one_line(failure))
        raise error from None


def write_record(trainer: Trainer, samples: list[Batch], error: FloatingPointError) -> None:
    """Write this rank's record: each rank has other batches, and any of them may be the cause."""
    rank = trainer.data_parallel_rank
    path = Path(trainer.cfg.checkpoint.save_dir, f"divergence.rank{rank}.json" if rank else DIVERGENCE)
    record = {**describe(trainer, samples, error), "rank": rank, "ranks": trainer.data_parallel_world_size}
    write_sealed(path, record)


def describe(trainer: Trainer, samples: list[Batch], error: FloatingPointError) -> dict[str, object]:
    batches = [batch for batch in samples if batch]  # a rank may have run out of them
    results = [loss_and_gradients(trainer, batch) for batch in batches]
    names = dict.fromkeys(layer for _, squares in results for layer in squares)
    layers = {layer: sum(squares[layer] for _, squares in results) for layer in names}
    return {
        "update": trainer.get_num_updates(),
        "error": str(error).splitlines()[0],
        "loss": [encode(loss) for loss, _ in results],
        "loss_scale": getattr(getattr(trainer.optimizer, "scaler", None), "loss_scale", None),
        "gradient_norms": {layer: encode(math.sqrt(square)) for layer, square in layers.items()},
        "sentences": [sorted(batch["id"].tolist()) for batch in batches],
    }


def loss_and_gradients(trainer: Trainer, batch: Batch) -> tuple[float, dict[str, float]]:
    """Return a batch's loss in bits per token, and the squared gradient norm of each layer.

    autograd.grad runs no collective operation, in which the other ranks would have to take part."""
    prepared, _ = trainer._prepare_sample(batch)
    loss, size, _ = trainer.criterion(trainer.get_model(), prepared)
    names, parameters = zip(
        *(pair for pair in trainer.get_model().named_parameters() if pair[1].requires_grad), strict=True
    )
    squares: dict[str, float] = defaultdict(float)
    gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
    for name, gradient in zip(names, gradients, strict=True):
        match = LAYER.match(name)
        if gradient is not None:
            squares[match[0] if match else name] += float(gradient.float().square().sum())
    return float(loss.detach()) / float(size) / math.log(2), squares


def encode(number: float) -> float | str:
    """Return a number as JSON can have it: NaN and infinities as text."""
    return number if math.isfinite(number) else str(number)
