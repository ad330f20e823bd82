"""--fp16 on a CPU, where gradients that overflow are skipped as on a GPU."""

from typing import Any

from fairseq.trainer import Trainer

from realformer_nmt.fairseq_patches.patch import Original, patch


@patch(Trainer, "train_step")
def skip_an_overflow_on_a_cpu(original: Original, trainer: Trainer, *args: Any, **kwargs: Any) -> Any:
    """Skip an update whose gradients overflow in fp16 on a CPU. fairseq asks for a GPU to say so (trainer.py)."""
    try:
        return original(trainer, *args, **kwargs)
    except (AssertionError, RuntimeError) as error:
        if trainer.cuda or not isinstance(error.__context__, OverflowError):
            raise
        trainer.zero_grad()
        return None
