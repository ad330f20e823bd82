"""Batches: none is dropped, and what loads them ends with the command, however that ends."""

import atexit
import contextlib
import multiprocessing
import queue
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
from fairseq.data import data_utils, iterators
from torch.utils.data._utils import worker

from realformer_nmt.common.errors import UserError
from realformer_nmt.fairseq_patches.patch import Original, patch


def name_whole_numbers() -> None:
    """Provide numpy.compat.long for --sample-break-mode eos: fairseq needs it, and numpy no longer has it."""
    if not hasattr(np, "compat"):
        vars(np)["compat"] = SimpleNamespace(long=int)


@patch(data_utils, "batch_by_size")
def keep_last_batch(original: Original, indices: Any, *args: Any, **kwargs: Any) -> list[Any]:
    """Keep the last batch.

    fairseq drops it unless its size is a multiple of --required-batch-size-multiple (8): 203 sentences become 200
    (issues 5036 and 5351 of facebookresearch/fairseq). It does so in training, validation and generation, since commit
    d871f616 of December 2022.
    """
    if not isinstance(indices, np.ndarray):
        indices = np.fromiter(indices, dtype=np.int64)
    if not indices.size:
        limits = "--max-tokens, --max-source-positions and --max-target-positions"
        raise UserError(
            f"no sentence pair is short enough for {limits} (and --score-length, of a Synthesizer): raise them"
        )
    batches = list(original(indices, *args, **kwargs))
    batched = sum(map(len, batches))
    return batches if batched == len(indices) else [*batches, indices[batched:]]


@patch(worker, "ManagerWatchdog")
def end_loaders_with_their_command(original: Original) -> Any:
    """End the processes that load batches some seconds after a kill of their command, whenever it comes.

    fairseq's live on for ever if it comes while they start: torch notes their parent too late (ManagerWatchdog in
    utils/data/_utils/worker.py).
    """
    watchdog = original()
    parent = multiprocessing.parent_process()
    if parent and multiprocessing.get_start_method() != "forkserver":  # whose server is the parent
        watchdog.manager_pid = parent.pid
    return watchdog


def end_prefetching_before_exit() -> None:
    """End the thread that prefetches batches before Python ends.

    Else a command that ends within an epoch aborts with status 134. Python's end kills the thread inside C++ code
    (data/iterators.py).
    """
    atexit.register(_end_prefetching)


def _end_prefetching() -> None:
    for thread in threading.enumerate():
        if isinstance(thread, iterators.BackgroundConsumer):
            thread._max_len = 0  # it ends after the present batch
            for _ in range(1000):  # ten seconds at most
                if thread.is_alive():
                    with contextlib.suppress(queue.Empty):
                        thread._queue.get(timeout=0.01)  # it may be waiting for space in the queue
