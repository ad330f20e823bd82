"""The number of updates of a training: its batches are built as fairseq-train builds them, and counted.

fairseq sorts the pairs by length before it fills batches, and shuffles only pairs of equal lengths and whole batches:
every epoch has the same number of batches, so that the count is exact.
"""

import argparse
import contextlib
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fairseq import options, tasks, utils
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from realformer_nmt.common.errors import UserError, one_line
from realformer_nmt.fairseq_patches.messages.quiet import quiet
from realformer_nmt.model.attention import scores
from realformer_nmt.model.config import TranslationConfig
from realformer_nmt.model.models.model import read_options
from realformer_nmt.protocols.running.shared_configuration import configuration
from realformer_nmt.tasks import task_of


class Length(NamedTuple):
    """Length of a training."""

    an_epoch: int  # updates per epoch
    updates: int
    epochs: int  # complete ones
    rest: int  # updates after the last complete epoch


def parse(argv: Sequence[str]) -> Any:
    """Return the configuration of fairseq-train's flags; the caller may change the result."""
    return configure(vars(flags(argv)), argv)


def configure(options: Mapping[str, Any], argv: Sequence[str]) -> Any:
    """Return the configuration of flags that are parsed."""
    with quiet():
        try:
            return configuration(options)
        except (OmegaConfBaseException, HydraException, OverflowError) as error:  # ${...} in a path; too large for C
            raise UserError(f"{one_line(error)}: fairseq does not accept a value in {' '.join(argv)}") from error


def flags(argv: Sequence[str]) -> argparse.Namespace:
    """Read fairseq-train's flags by fairseq's own parser."""
    with quiet(), contextlib.redirect_stderr(io.StringIO()) as stderr:
        parser = options.get_training_parser()
        parser.prog = "fairseq-train"
        try:
            args: argparse.Namespace = options.parse_args_and_arch(parser, input_args=list(argv))
        except SystemExit as error:
            last = stderr.getvalue().strip().splitlines()[-1:]
            raise UserError(f"{''.join(last)}; `fairseq-train --help` lists its flags") from error
    return args


def set_up(cfg: Any) -> Any:
    """Return the task of a training whose data-bin is there, with its dictionaries, for checks and counts alone."""
    data = Path(cfg.task.data.split(":")[0])
    if not data.is_dir():
        raise UserError(f"{data} is not a folder: give the data-bin that `realformer-nmt prepare` has made")
    task_of(cfg).languages(data)
    with quiet():
        task = tasks.setup_task(cfg.task)
    if getattr(task.cfg, "eval_bleu", False):  # would build beam search for every model
        task.cfg.eval_bleu = False
    return task


def length(cfg: Any, task: Any, ranks: int) -> Length:
    share = math.ceil(count_batches(cfg, task) / ranks)
    if cfg.optimization.skip_remainder_batch:  # fairseq leaves out each rank's last batch, then what fills no update
        epochs = [(share - 1) // frequency for frequency in cfg.optimization.update_freq]
    else:
        epochs = [math.ceil(share / frequency) for frequency in cfg.optimization.update_freq]  # the last one repeats
    if not all(epochs):
        raise UserError(
            f"an epoch has {share} batches a GPU, too few for one update with --update-freq "
            f"{cfg.optimization.update_freq} and --skip-remainder-batch: leave --skip-remainder-batch out"
        )
    ends = []
    if cfg.optimization.max_epoch:
        repeated = max(0, cfg.optimization.max_epoch - len(epochs))
        ends.append(sum(epochs[: cfg.optimization.max_epoch]) + epochs[-1] * repeated)
    if cfg.optimization.max_update:
        ends.append(cfg.optimization.max_update)
    if not ends:
        raise UserError("the training has no end: pass --epochs or --updates")
    total = min(ends)
    complete, rest = complete_epochs(epochs, total)
    return Length(epochs[0], total, complete, rest)


def complete_epochs(epochs: Sequence[int], total: int) -> tuple[int, int]:
    """Return the epochs that `total` updates complete, and the updates after them; the last length repeats."""
    for complete, updates in enumerate(epochs[:-1]):
        if total < updates:
            return complete, total
        total -= updates
    return len(epochs) - 1 + total // epochs[-1], total % epochs[-1]


def longest(cfg: Any, task: Any) -> Any:
    """Return the positions of the model: the length of the longest text that it can read."""
    if task_of(cfg).translates:
        room = table_length(cfg.model) or math.inf
        return min(cfg.model.max_source_positions, room), min(cfg.model.max_target_positions, room)
    from realformer_nmt.model.models.meta_model import outline  # slow to import, as it imports the models

    return outline(cfg.model, task).max_positions()


def table_length(options: Any) -> int | None:
    """Return the length of a translation model's tables by position, which its options say; None if it has none."""
    cfg = read_options(TranslationConfig, options)
    return scores.longest(cfg.score_source, cfg.score_length)


def count_batches(cfg: Any, task: Any) -> int:
    with quiet():
        task.load_dataset(cfg.dataset.train_subset, combine=True, epoch=1)
        positions = longest(cfg, task)
        iterator = task.get_batch_iterator(
            dataset=task.dataset(cfg.dataset.train_subset),
            max_tokens=cfg.dataset.max_tokens,
            max_sentences=cfg.dataset.batch_size,
            max_positions=utils.resolve_max_positions(task.max_positions(), positions, cfg.dataset.max_tokens),
            ignore_invalid_inputs=True,
            required_batch_size_multiple=cfg.dataset.required_batch_size_multiple,
            seed=cfg.common.seed,
            epoch=1,
            disable_iterator_cache=True,
        )
        del task.datasets[cfg.dataset.train_subset]  # gigabytes, once per cell of a comparison
        return len(iterator.frozen_batches)
