"""What fairseq needs on today's Python, torch and numpy: one mend a function, all applied when fairseq imports us.

Each docstring says what breaks, since when and where upstream. Whether a mend is still needed is a test of its own:
tests/fairseq_patches/ runs stock fairseq beside the mended one. docs/compatibility.md is the table.
"""

import argparse
import atexit
import contextlib
import functools
import logging
import os
import queue
import sys
import threading
import types
import typing
import warnings
from pathlib import Path

import numpy as np
import torch
from fairseq import checkpoint_utils, options
from fairseq.data import data_utils, iterators
from fairseq.distributed import utils as distributed_utils
from fairseq.file_io import PathManager
from fairseq.logging import progress_bar as progress_bars

from realformer_nmt.checkpoints import reading
from realformer_nmt.checkpoints.configuration import SettingsError, take_settings
from realformer_nmt.common.errors import UserError
from realformer_nmt.fairseq_patches import (
    checkpoint_files,
    divergence,
    elastic_resume,
    hub,
    moving_average,
    one_training,
    ranks,
)

UNACTIONABLE = (  # category, start of the message
    (UserWarning, r"hydra\.experimental\.(initialize|compose)\(\) is no longer experimental"),
    (UserWarning, r"\s*The version_base parameter is not specified"),
    (UserWarning, r"\s*The strict flag in the compose API is deprecated"),
    (UserWarning, r"In 'config': Usage of deprecated keyword in package header"),
    (UserWarning, r"\s*'config' is validated against ConfigStore schema with the same name"),
    (UserWarning, r"'pin_memory' argument is set as true but no accelerator is found"),
    (UserWarning, r"Support for mismatched key_padding_mask and attn_mask is deprecated"),
    (FutureWarning, r"`torch\.cuda\.amp\.\w+\(args\.\.\.\)` is deprecated"),
    (FutureWarning, r"`broadcast_buffers` is deprecated"),
)


@functools.cache
def mend() -> None:
    """Apply every mend; a second call in the same process changes nothing."""
    quieten_warnings()
    quieten_root_logger()
    read_checkpoints_safely()
    open_ordinary_files_alone()
    keep_last_batch()
    train_in_bf16_without_tpu()
    end_prefetching_before_exit()
    log_each_line_once()
    divergence.note_divergence()
    checkpoint_files.mend()
    one_training.mend()
    ranks.mend()
    elastic_resume.mend()
    moving_average.mend()
    hub.mend()


def quieten_warnings() -> None:
    """fairseq calls deprecated interfaces of hydra >= 1.1 (dataclass/initialize.py, dataclass/utils.py) and of
    torch >= 2.4 (tasks/fairseq_task.py, models/distributed_fairseq_model.py, modules/transformer_layer.py): a page
    of notices a run, on which only fairseq could act."""
    for category, message in UNACTIONABLE:
        warnings.filterwarnings("ignore", message=message, category=category)


def quieten_root_logger() -> None:
    """`import fairseq` sets the root logger to DEBUG (models/wav2vec/wav2vec2_classification.py) unless a command
    configured logging before, so that every library's debug lines are shown."""
    if logging.getLogger().level == logging.DEBUG and os.environ.get("LOGLEVEL", "").upper() != "DEBUG":
        logging.getLogger().setLevel(logging.INFO)


class _CheckpointTorch(types.ModuleType):
    """torch for the module that loads checkpoints, with our reader for `load`, whatever its caller asks."""

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(torch, name)

    def load(self, file: typing.Any, *_: typing.Any, **__: typing.Any) -> dict[str, typing.Any]:
        name = str(getattr(file, "name", "the checkpoint"))
        try:
            return take_settings(reading.load_stream(file, name))
        except SettingsError as error:
            raise UserError(f"{name} {error}") from error


class _MessageTorch(_CheckpointTorch):
    """torch for the module in which ranks send each other what the first has loaded."""

    def load(self, file: typing.Any, *_: typing.Any, **__: typing.Any) -> typing.Any:
        return reading.receive(file)


def read_checkpoints_safely() -> None:
    """fairseq's main branch loads with weights_only=False (checkpoint_utils.py, two places; issue 5610), and torch
    before 2.6 does so by default: a checkpoint from elsewhere runs the code that it holds. torch >= 2.6 loads none with
    BLEU's counts or with the options of a model without a dataclass (issue 5603), calls constructors of its own with
    whatever a file says, and no torch looks at the checksums."""
    checkpoint_utils.torch = _CheckpointTorch("torch")
    distributed_utils.torch = _MessageTorch("torch")


def open_ordinary_files_alone() -> None:
    """Whatever --path names is opened: a FIFO is waited for without end, a folder is a traceback."""
    for name in ("load_checkpoint_to_cpu", "load_ema_from_checkpoint"):
        setattr(checkpoint_utils, name, _of_ordinary_file(getattr(checkpoint_utils, name)))


def _of_ordinary_file(original: typing.Callable[..., typing.Any]) -> typing.Callable[..., typing.Any]:
    @functools.wraps(original)
    def load(path: str, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        if not PathManager.path_requires_pathmanager(path):
            reading.regular(Path(path))
        return original(path, *args, **kwargs)

    return load


def keep_last_batch() -> None:
    """batch_by_size drops the last batch unless its size is a multiple of --required-batch-size-multiple, 8 by
    default: 203 sentences become 200 in training, validation and generation (commit d871f616, December 2022; issues
    5036 and 5351 of facebookresearch/fairseq)."""
    original = data_utils.batch_by_size

    @functools.wraps(original)
    def batch_by_size(indices: typing.Any, *args: typing.Any, **kwargs: typing.Any) -> list[typing.Any]:
        if not isinstance(indices, np.ndarray):
            indices = np.fromiter(indices, dtype=np.int64)
        if not indices.size:
            limits = "--max-tokens, --max-source-positions and --max-target-positions"
            raise UserError(f"no sentence pair is short enough for {limits}: raise them")
        batches = list(original(indices, *args, **kwargs))
        batched = sum(map(len, batches))
        return batches if batched == len(indices) else [*batches, indices[batched:]]

    data_utils.batch_by_size = batch_by_size


def train_in_bf16_without_tpu() -> None:
    """--bf16 on the command line turns on --tpu (options.py), and fails for want of torch_xla on every other machine
    (issue 4696 of facebookresearch/fairseq)."""
    original = options.parse_args_and_arch

    @functools.wraps(original)
    def parse_args_and_arch(
        parser: argparse.ArgumentParser, input_args: list[str] | None = None, *args: typing.Any, **kwargs: typing.Any
    ) -> typing.Any:
        parsed = original(parser, input_args, *args, **kwargs)
        settings = parsed[0] if isinstance(parsed, tuple) else parsed
        if getattr(settings, "tpu", False) and "--tpu" not in (sys.argv if input_args is None else input_args):
            settings.tpu = False
        return parsed

    options.parse_args_and_arch = parse_args_and_arch


def log_each_line_once() -> None:
    """--log-file: every epoch opens the file once more and closes none (logging/progress_bar.py), so that the n-th
    epoch's lines stand there n times."""
    original = progress_bars.progress_bar

    @functools.wraps(original)
    def progress_bar(*args: typing.Any, log_file: str | None = None, **kwargs: typing.Any) -> typing.Any:
        opened = [handler for handler in progress_bars.logger.handlers if isinstance(handler, logging.FileHandler)]
        for handler in opened if log_file else ():
            progress_bars.logger.removeHandler(handler)
            handler.close()
        return original(*args, log_file=log_file, **kwargs)

    progress_bars.progress_bar = progress_bar


def end_prefetching_before_exit() -> None:
    """A command that ends within an epoch, by --max-update or by an error, leaves the thread that prefetches batches
    running; Python's end kills it inside C++ code and the process aborts with status 134 (data/iterators.py)."""
    atexit.register(_end_prefetching)


def _end_prefetching() -> None:
    for thread in threading.enumerate():
        if isinstance(thread, iterators.BackgroundConsumer):
            thread._max_len = 0  # it ends after the batch at hand
            for _ in range(1000):  # ten seconds at most
                if thread.is_alive():
                    with contextlib.suppress(queue.Empty):
                        thread._queue.get(timeout=0.01)  # it may be waiting for room
