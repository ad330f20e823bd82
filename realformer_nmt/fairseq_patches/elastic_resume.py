"""Resuming on another number of ranks (fairseq's data/iterators.py)."""

import functools
import logging
import typing

from fairseq.data.iterators import EpochBatchIterator

RANKS = "ranks"  # beside fairseq's own entries of the iterator's state
logger = logging.getLogger(__name__)
State = dict[str, typing.Any]


def note_the_ranks() -> None:
    """A checkpoint says how many batches each rank has had of the epoch, and not how many ranks there were."""
    original = EpochBatchIterator.state_dict

    @functools.wraps(original)
    def state_dict(self: EpochBatchIterator) -> State:
        return {**original(self), RANKS: self.num_shards}

    EpochBatchIterator.state_dict = state_dict


def find_the_place_on_other_ranks() -> None:
    """On half as many ranks fairseq goes back to the quarter of an epoch whose middle it had reached; on twice as many
    it leaves batches out, or finds no more of them and fails."""
    original = EpochBatchIterator.load_state_dict

    @functools.wraps(original)
    def load_state_dict(self: EpochBatchIterator, state: State) -> None:
        original(self, {**state, "iterations_in_epoch": place(state, self.num_shards)})

    EpochBatchIterator.load_state_dict = load_state_dict


def place(state: State, ranks: int) -> int:
    """Batches that each of so many ranks has had: all together as many as before, or as few less as it takes."""
    had, before = state.get("iterations_in_epoch", 0), state.get(RANKS, ranks)
    if before == ranks:
        return int(had)
    place, again = divmod(had * before, ranks)
    logger.info("the checkpoint is of %d ranks, this run of %d: %d batches are seen again", before, ranks, again)
    return int(place)
