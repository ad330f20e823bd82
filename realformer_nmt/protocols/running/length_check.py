"""Check, before a training, that no held-out text is too long for the model or for a batch.

fairseq leaves such texts out of the training data; in others they end the training, after its first epoch."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from fairseq import utils

from realformer_nmt.common.errors import UserError
from realformer_nmt.fairseq_patches.messages.quiet import quiet
from realformer_nmt.protocols.running import updates


def check(cfg: Any, task: Any, more: Iterable[str] = ()) -> None:
    """Check the subsets that the training validates, and `more`, which are measured later."""
    validated = [] if cfg.dataset.disable_validation else cfg.dataset.valid_subset.split(",")
    if cfg.dataset.skip_invalid_size_inputs_valid_test:
        return
    with quiet():
        positions = task.max_positions(), updates.longest(cfg, task), cfg.dataset.max_tokens_valid
    for subset in dict.fromkeys([*validated, *more]):
        check_short(task, cfg.task.data, subset, utils.resolve_max_positions(*positions))


def check_short(task: Any, data: str, subset: str, limits: Any) -> None:
    try:
        with quiet():
            task.load_dataset(subset, combine=False, epoch=1)
    except (FileNotFoundError, AssertionError):
        return  # the command that needs this subset reports it
    dataset = task.dataset(subset)
    _, long = dataset.filter_indices_by_size(dataset.ordered_indices(), limits)
    if not len(long):
        return
    first = min(long)
    tokens = " and ".join(map(str, np.atleast_1d(dataset.size(first))))  # of a pair, both sides'
    message = f"{len(long):,} of {subset} are too long, such as number {first + 1:,} with {tokens} tokens"
    raise UserError(
        f"{data}: {message}; allowed are {limits}: shorten or split them, or raise --max-positions (of translations "
        "--max-source-positions and --max-target-positions), --tokens-per-sample or --max-tokens (and --score-length, "
        "of a Synthesizer)"
    )
