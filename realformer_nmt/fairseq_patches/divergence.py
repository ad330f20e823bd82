"""What a training that diverges leaves behind: checkpoints/divergence.json, beside the last good checkpoint.

fairseq ends such a run with a FloatingPointError (gradients that are no numbers, a loss scale at its floor) and says
no more of it. The note says at which update, on which sentences, with which loss and which gradient norm in every
layer.
"""

import functools
import logging
import math
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch
from fairseq.trainer import Trainer

from realformer_nmt.common import sealed
from realformer_nmt.common.errors import UserError

FILE = "divergence.json"
logger = logging.getLogger(__name__)
LAYER = re.compile(r".*?\.layers\.\d+|\w+\.\w+")


def note_divergence() -> None:
    """fairseq runs the batch again to find the first tensor that is no number (nan_detector.py). On torch >= 2.0 its
    hooks meet the encoder's dictionary of lists, and a StopIteration ends the run in place of the error."""
    original = Trainer.train_step

    @functools.wraps(original)
    def train_step(self: Trainer, samples: list[Any], raise_oom: bool = False) -> Any:
        try:
            return original(self, samples, raise_oom)
        except (FloatingPointError, StopIteration) as found:
            error = found if isinstance(found, FloatingPointError) else found.__context__
            if not isinstance(error, FloatingPointError):
                raise
            try:
                leave_note(self, samples, error)
            except UserError as refused:  # of the disk; what ends the training is the other one
                logger.warning("the divergence is not noted: %s", refused)
            raise error from None

    Trainer.train_step = train_step


def leave_note(trainer: Trainer, samples: list[Any], error: FloatingPointError) -> None:
    """Each rank has batches of its own, any of which may be the one."""
    rank = trainer.data_parallel_rank
    path = Path(trainer.cfg.checkpoint.save_dir, f"divergence.rank{rank}.json" if rank else FILE)
    note = {**describe(trainer, samples, error), "rank": rank, "ranks": trainer.data_parallel_world_size}
    sealed.write(path, note)


def describe(trainer: Trainer, samples: list[Any], error: FloatingPointError) -> dict[str, Any]:
    batches = [batch for batch in samples if batch]
    found = [retried(trainer, batch) for batch in batches]
    layers = {layer: sum(squares[layer] for _, squares in found) for layer in (found[0][1] if found else ())}
    return {
        "update": trainer.get_num_updates(),
        "error": str(error).splitlines()[0],
        "loss": [encode(loss) for loss, _ in found],
        "loss_scale": getattr(getattr(trainer.optimizer, "scaler", None), "loss_scale", None),
        "gradient_norms": {layer: encode(math.sqrt(square)) for layer, square in layers.items()},
        "sentences": [sorted(batch["id"].tolist()) for batch in batches],
    }


def retried(trainer: Trainer, batch: dict[str, Any]) -> tuple[float, dict[str, float]]:
    """The loss in bits a token, and the squared gradient norm of each layer, of one rank's batch: autograd.grad stays
    clear of what other ranks would have to take part in."""
    model = trainer.get_model()
    prepared, _ = trainer._prepare_sample(batch)
    loss, size, _ = trainer.criterion(model, prepared)
    names, parameters = zip(*(pair for pair in model.named_parameters() if pair[1].requires_grad), strict=True)
    squares: dict[str, float] = defaultdict(float)
    gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
    for name, gradient in zip(names, gradients, strict=True):
        match = LAYER.match(name)
        if gradient is not None:
            squares[match[0] if match else name] += float(gradient.float().square().sum())
    return float(loss.detach()) / float(size) / math.log(2), squares


def encode(number: float) -> float | str:
    """JSON has no NaN."""
    return number if math.isfinite(number) else str(number)
