"""One run of W&B a training."""

import functools
from typing import Any

from fairseq.logging import progress_bar


def begin_once() -> None:
    """wandb.init is called in every epoch, for training and for validation. It goes on with the run that is there, but
    warns each time, and makes one more folder of logs (logging/progress_bar.py)."""
    original = progress_bar.WandBProgressBarWrapper.__init__

    @functools.wraps(original)
    def begin(self: Any, wrapped_bar: Any, *args: Any, **kwargs: Any) -> None:
        if getattr(progress_bar.wandb, "run", None) is None:
            original(self, wrapped_bar, *args, **kwargs)
        else:
            self.wrapped_bar = wrapped_bar

    progress_bar.WandBProgressBarWrapper.__init__ = begin
