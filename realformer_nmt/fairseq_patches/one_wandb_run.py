"""One run of W&B per training."""

import functools
from typing import Any

from fairseq.logging import progress_bar


def begin_once() -> None:
    """Call wandb.init once.

    fairseq calls it in every epoch, for training and for validation (logging/progress_bar.py): it continues the same
    run, but warns each time and creates another folder of logs."""
    original = progress_bar.WandBProgressBarWrapper.__init__

    @functools.wraps(original)
    def begin(self: Any, wrapped_bar: Any, *args: Any, **kwargs: Any) -> None:
        if getattr(progress_bar.wandb, "run", None) is None:
            original(self, wrapped_bar, *args, **kwargs)
        else:
            self.wrapped_bar = wrapped_bar

    progress_bar.WandBProgressBarWrapper.__init__ = begin
