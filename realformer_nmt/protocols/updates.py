"""How many updates a training will make: the batches are made as fairseq-train will make them, and counted.

fairseq sorts the pairs by length before it fills batches, and shuffles only pairs of equal lengths and whole batches:
every epoch has the same number of batches, so that the count is exact.
"""

import contextlib
import copy
import functools
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fairseq import options, tasks, utils
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from realformer_nmt.common.errors import UserError, one_line
from realformer_nmt.data_bins.datasets import demand_plain
from realformer_nmt.fairseq_patches.quiet import quiet
from realformer_nmt.protocols.tasks import of


class Length(NamedTuple):
    batches: int  # an epoch, before they are dealt to the GPUs
    an_epoch: int  # updates
    updates: int
    epochs: int  # whole ones
    rest: int  # updates after them


def parse(words: Sequence[str]) -> Any:
    """fairseq's own reading of fairseq-train's flags, to be changed freely. It takes a third of a second, and a command
    asks several times for the same, of every cell of a grid."""
    demand_plain({"data": words[0]})
    return copy.deepcopy(_read(tuple(words)))


@functools.lru_cache(maxsize=1024)
def _read(words: tuple[str, ...]) -> Any:
    with quiet(), contextlib.redirect_stderr(io.StringIO()) as told:
        parser = options.get_training_parser()
        parser.prog = "fairseq-train"
        try:
            return convert_namespace_to_omegaconf(options.parse_args_and_arch(parser, input_args=list(words)))
        except SystemExit as error:
            last = told.getvalue().strip().splitlines()[-1:]
            raise UserError(f"{''.join(last)}; `fairseq-train --help` lists its flags") from error
        except (
            OmegaConfBaseException,
            HydraException,
            OverflowError,
        ) as error:  # ${...} in a path; a number that C does not know
            raise UserError(f"{one_line(error)}: fairseq does not accept a value in {' '.join(words)}") from error


def length(cfg: Any, ranks: int) -> Length:
    data = Path(cfg.task.data.split(":")[0])
    if not data.is_dir():
        raise UserError(f"{data} is not a folder: give the data-bin that `realformer-nmt prepare` has made")
    of(cfg).languages(data)
    batches = count_batches(cfg)
    shares = math.ceil(batches / ranks)
    epochs = [
        math.ceil(shares / frequency) for frequency in cfg.optimization.update_freq
    ]  # one an epoch, the last stays
    ends = []
    if cfg.optimization.max_epoch:
        begun = cfg.optimization.max_epoch - len(epochs)
        ends.append(sum(epochs[: cfg.optimization.max_epoch]) + epochs[-1] * max(0, begun))
    if cfg.optimization.max_update:
        ends.append(cfg.optimization.max_update)
    if not ends:
        raise UserError("the training has no end: pass --epochs or --updates")
    return Length(batches, epochs[0], min(ends), *whole(epochs, min(ends)))


def whole(epochs: Sequence[int], total: int) -> tuple[int, int]:
    """Epochs that so many updates complete, and the updates after them; the last length holds from there on."""
    for complete, updates in enumerate(epochs[:-1]):
        if total < updates:
            return complete, total
        total -= updates
    return len(epochs) - 1 + total // epochs[-1], total % epochs[-1]


def longest(cfg: Any, task: Any) -> Any:
    """Positions of the model, which a text that is longer has no place in."""
    if of(cfg).translates:
        return cfg.model.max_source_positions, cfg.model.max_target_positions
    from realformer_nmt.model.skeleton import outline  # which imports the models

    return outline(cfg.model, task).max_positions()


def count_batches(cfg: Any) -> int:
    with quiet():
        task = tasks.setup_task(cfg.task)
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
        )
        return len(iterator.frozen_batches)
