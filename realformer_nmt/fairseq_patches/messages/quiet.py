"""Warnings and log lines of fairseq that a user cannot act on, or that it repeats."""

import contextlib
import logging
import os
import warnings
from collections.abc import Iterator
from typing import Any

from fairseq.logging import progress_bar as progress_bars

from realformer_nmt.fairseq_patches.patch import Original, patch

UNACTIONABLE = (  # category, regular expression of the message's start
    (UserWarning, r"hydra\.experimental\.(initialize|compose)\(\) is no longer experimental"),
    (UserWarning, r"\s*The version_base parameter is not specified"),
    (UserWarning, r"\s*The strict flag in the compose API is deprecated"),
    (UserWarning, r"In 'config': Usage of deprecated keyword in package header"),
    (UserWarning, r"\s*'config' is validated against ConfigStore schema with the same name"),
    (UserWarning, r"'pin_memory' argument is set as true but no accelerator is found"),
    (UserWarning, r"Support for mismatched key_padding_mask and attn_mask is deprecated"),
    (FutureWarning, r"`torch\.cuda\.amp\.\w+\(args\.\.\.\)` is deprecated"),
    (FutureWarning, r"`broadcast_buffers` is deprecated"),
    (Warning, r"`torch\.jit\.script` is deprecated"),
)


def quieten_warnings() -> None:
    """Ignore warnings that a user cannot act on.

    fairseq calls deprecated interfaces of hydra and torch. They are those of hydra >= 1.1 (dataclass/initialize.py,
    dataclass/utils.py) and of torch >= 2.4 (tasks/fairseq_task.py, models/distributed_fairseq_model.py,
    modules/transformer_layer.py).
    """
    for category, message in UNACTIONABLE:
        warnings.filterwarnings("ignore", message=message, category=category)
    module = r"fairseq\.data\.token_block_dataset"  # of a text whose first line is empty, which no task here reads
    warnings.filterwarnings("ignore", message="overflow encountered", category=RuntimeWarning, module=module)


def quieten_root_logger() -> None:
    """Set the root logger back to INFO, unless LOGLEVEL=DEBUG.

    `import fairseq` sets it to DEBUG, which shows every library's debug lines. It does so in
    models/wav2vec/wav2vec2_classification.py, unless a command has configured the logger before.
    """
    if logging.getLogger().level == logging.DEBUG and os.environ.get("LOGLEVEL", "").upper() != "DEBUG":
        logging.getLogger().setLevel(logging.INFO)


@patch(progress_bars, "progress_bar")
def log_each_line_once(original: Original, *args: Any, log_file: str | None = None, **kwargs: Any) -> Any:
    """Close a --log-file before it is opened again.

    fairseq leaves it open: the n-th epoch's lines appear n times (logging/progress_bar.py).
    """
    opened = [handler for handler in progress_bars.logger.handlers if isinstance(handler, logging.FileHandler)]
    for handler in opened if log_file else ():
        progress_bars.logger.removeHandler(handler)
        handler.close()
    return original(*args, log_file=log_file, **kwargs)


@patch(progress_bars.WandBProgressBarWrapper, "__init__")
def begin_one_wandb_run(original: Original, wrapper: Any, wrapped_bar: Any, *args: Any, **kwargs: Any) -> None:
    """Call wandb.init once.

    fairseq calls it twice per epoch: a warning and a folder of logs each time (logging/progress_bar.py). It continues
    the same run.
    """
    if getattr(progress_bars.wandb, "run", None) is None:
        original(wrapper, wrapped_bar, *args, **kwargs)
    else:
        wrapper.wrapped_bar = wrapped_bar


@contextlib.contextmanager
def quiet(level: int = logging.INFO) -> Iterator[None]:
    """Turn off log lines up to a level, such as fairseq's on everything that it loads."""
    previous = logging.root.manager.disable
    logging.disable(level)
    try:
        yield
    finally:
        logging.disable(previous)
