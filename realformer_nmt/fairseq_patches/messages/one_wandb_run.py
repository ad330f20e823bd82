"""One run of W&B per training."""

from typing import Any

from fairseq.logging import progress_bar

from realformer_nmt.fairseq_patches.patch import Original, patch


@patch(progress_bar.WandBProgressBarWrapper, "__init__")
def begin_once(original: Original, wrapper: Any, wrapped_bar: Any, *args: Any, **kwargs: Any) -> None:
    """Call wandb.init once.

    fairseq calls it twice per epoch: a warning and a folder of logs each time. It continues the same run
    (logging/progress_bar.py).
    """
    if getattr(progress_bar.wandb, "run", None) is None:
        original(wrapper, wrapped_bar, *args, **kwargs)
    else:
        wrapper.wrapped_bar = wrapped_bar
