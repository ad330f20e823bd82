"""Resuming within an epoch on another number of ranks, or in other batches (fairseq's data/iterators.py)."""

import logging
from collections.abc import Mapping
from typing import Any

from fairseq.data.iterators import EpochBatchIterator

from realformer_nmt.fairseq_patches.patch import Original, patch

RANKS, BATCHES = "ranks", "batches"  # beside fairseq's own entries of the iterator's state
logger = logging.getLogger(__name__)
State = Mapping[str, Any]


@patch(EpochBatchIterator, "state_dict")
def note_the_ranks(original: Original, iterator: EpochBatchIterator) -> State:
    """Record the numbers of ranks and batches: fairseq records only how many batches each rank has had."""
    return {**original(iterator), RANKS: iterator.num_shards, BATCHES: len(iterator.frozen_batches)}


@patch(EpochBatchIterator, "load_state_dict")
def resume_on_other_ranks(original: Original, iterator: EpochBatchIterator, state: State) -> None:
    """Resume within an epoch on any number of ranks, and begin it again in batches of another size.

    fairseq repeats or skips batches, or fails. From the middle of an epoch it goes back to the first quarter on half as
    many ranks; on twice as many it leaves batches out, or has none left and fails. So it does with another
    --max-tokens.
    """
    done = batches_per_rank(state, iterator.num_shards)
    if done and has_other_batches(state, len(iterator.frozen_batches)):
        done = 0
    original(iterator, {**state, "iterations_in_epoch": done})


def has_other_batches(state: State, batches: int) -> bool:
    """Return whether an epoch was divided into another number of batches, as with another --max-tokens, and log it."""
    previous = state.get(BATCHES, batches)
    if previous != batches:
        logger.info("the checkpoint's epoch is of %d batches, here of %d: it begins again", previous, batches)
    return bool(previous != batches)


def batches_per_rank(state: State, ranks: int) -> int:
    """Return the batches of the epoch that each of `ranks` has had; a remainder is seen again."""
    batches, previous = state.get("iterations_in_epoch", 0), state.get(RANKS, ranks)
    if previous == ranks:
        return int(batches)
    share = batches * previous // ranks
    again = batches * previous - share * ranks
    logger.info("the checkpoint is of %d ranks, this run of %d: %d batches are seen again", previous, ranks, again)
    return int(share)
