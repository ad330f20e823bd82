"""What fairseq needs on today's Python, torch and numpy: one mend a function, all applied when fairseq imports us.

Each docstring says what breaks, since when and where upstream. Whether a mend is still needed is a test of its own:
tests/test_compat*.py and tests/test_distributed.py run stock fairseq beside the mended one. Mends of runs on many
ranks stand in distributed_compat.py, those of writing and finding checkpoints in checkpoint_compat.py, those of the
moving average in ema_compat.py; docs/compatibility.md is the table.
"""

import argparse
import atexit
import codecs
import collections
import contextlib
import functools
import logging
import os
import pickle
import queue
import re
import sys
import threading
import types
import typing
import warnings

import numpy as np
import omegaconf
import torch
from fairseq import checkpoint_utils, options
from fairseq.data import data_utils, iterators
from fairseq.distributed import utils as distributed_utils
from fairseq.logging import progress_bar as progress_bars

from realformer_nmt import checkpoint_compat, distributed_compat, divergence, elastic_compat, ema_compat
from realformer_nmt.errors import UserError

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
    allow_what_checkpoints_hold()
    load_weights_only()
    keep_last_batch()
    train_in_bf16_without_tpu()
    end_prefetching_before_exit()
    log_each_line_once()
    divergence.note_divergence()
    checkpoint_compat.mend()
    distributed_compat.mend()
    elastic_compat.mend()
    ema_compat.mend()


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


def allow_what_checkpoints_hold() -> None:
    """torch >= 2.6 loads weights only and knows none of the harmless classes of fairseq's checkpoints, so that
    resuming and generating fail (issues 5603 and 5610 of facebookresearch/fairseq)."""
    torch.serialization.add_safe_globals(
        [
            argparse.Namespace,  # options of a model that is no dataclass
            *_numpy_arrays(),  # BLEU counts among the meters
            codecs.encode,  # their bytes; newer torch allows it by itself
            # What rank 0 sends to the others when a distributed run resumes
            omegaconf.DictConfig,
            omegaconf.ListConfig,
            omegaconf.nodes.AnyNode,
            omegaconf.base.ContainerMetadata,
            omegaconf.base.Metadata,
            typing.Any,
            dict,
            list,
            int,
            collections.defaultdict,
            distributed_utils._TensorPlaceholder,
        ]
    )


def _numpy_arrays() -> list[typing.Any]:
    """An array of whole numbers or of floats (float64 once summed over ranks), written by numpy 1 or 2."""
    rebuild: typing.Any = np.empty(0).__reduce__()[0]
    return [
        _known_as("numpy.core.multiarray", rebuild),
        _known_as("numpy._core.multiarray", rebuild),
        np.ndarray,
        np.dtype,
        type(np.dtype(np.int64)),
        type(np.dtype(np.float64)),
    ]


def _known_as(module: str, rebuild: typing.Callable[..., np.ndarray]) -> typing.Callable[..., np.ndarray]:
    def _reconstruct(*arguments: typing.Any) -> np.ndarray:
        return rebuild(*arguments)

    _reconstruct.__module__, _reconstruct.__qualname__ = module, "_reconstruct"
    return _reconstruct


class UnsafeCheckpointError(UserError, pickle.UnpicklingError):
    """A checkpoint holds more than tensors, plain values and the harmless classes that fairseq puts there."""


class _WeightsOnlyTorch(types.ModuleType):
    """torch for the modules that load checkpoints: `load` runs no code, whatever its caller or torch's default asks."""

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(torch, name)

    def load(self, file: typing.Any, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        name = getattr(file, "name", "what rank 0 sent")
        try:
            return torch.load(file, *args, **{**kwargs, "weights_only": True})
        except pickle.UnpicklingError as error:
            named = re.search(r"GLOBAL (\S+)", str(error))
            held = f"holds {named[1]}" if named else "is no pickle of tensors and plain values"
            raise UnsafeCheckpointError(
                f"refused to load {name}: it {held}, and loading that could run code; nothing of it was run. Ask its "
                "maker for a checkpoint of tensors and plain values. If you trust it, torch.load it yourself with "
                "weights_only=False and torch.save what you need."
            ) from None
        except Exception as error:  # torch lets through whatever its reader stumbles over
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise UserError(f"cannot load {name}: it is no checkpoint, or not all of one ({reason})") from error


def load_weights_only() -> None:
    """fairseq's main branch loads with weights_only=False (checkpoint_utils.py, two places; issue 5610), and torch
    before 2.6 does so by default: a checkpoint from elsewhere runs the code that it holds. We pass weights_only=True,
    which TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD leaves alone by torch's own rule."""
    safe_torch = _WeightsOnlyTorch("torch")
    for module in (checkpoint_utils, distributed_utils):
        module.torch = safe_torch


def keep_last_batch() -> None:
    """batch_by_size drops the last batch unless its size is a multiple of --required-batch-size-multiple, 8 by
    default: 203 sentences become 200 in training, validation and generation (commit d871f616, December 2022; issues
    5036 and 5351 of facebookresearch/fairseq)."""
    original = data_utils.batch_by_size

    @functools.wraps(original)
    def batch_by_size(indices: typing.Any, *args: typing.Any, **kwargs: typing.Any) -> list[typing.Any]:
        if not isinstance(indices, np.ndarray):
            indices = np.fromiter(indices, dtype=np.int64)
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
