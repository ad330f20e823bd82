"""A place within an epoch, found again on another number of ranks; stock fairseq beside it."""

from typing import Any

import pytest
from fairseq.data import ListDataset
from fairseq.data.iterators import EpochBatchIterator

import realformer_nmt

BATCHES = 45
PLUG_IN = realformer_nmt.__version__  # imported, which patches fairseq


def iterator(ranks: int, rank: int) -> EpochBatchIterator:
    dataset = ListDataset(list(range(BATCHES)), [1] * BATCHES)
    batches = [[number] for number in range(BATCHES)]
    return EpochBatchIterator(dataset, list, batches, num_shards=ranks, shard_id=rank)


def had(ranks: int, updates: int, share: int) -> tuple[dict[str, Any], set[int]]:
    """The state after so many updates of `share` batches a rank, and the batches of all ranks so far."""
    seen: set[int] = set()
    state: dict[str, Any] = {}
    for rank in range(ranks):
        whole = iterator(ranks, rank)
        batches = whole.next_epoch_itr(shuffle=True)
        seen |= {number for _ in range(updates * share) for number in next(batches)}
        state = whole.state_dict()
    return state, seen


def rest(ranks: int, state: dict[str, Any], stock: bool = False) -> list[int]:
    numbers = []
    for rank in range(ranks):
        resumed = iterator(ranks, rank)
        load = EpochBatchIterator.load_state_dict
        (load.__wrapped__ if stock else load)(resumed, state)
        numbers += [number for batch in resumed.next_epoch_itr(shuffle=True) for number in batch]
    return numbers


@pytest.mark.parametrize(
    ("before", "share", "ranks"), [(4, 1, 2), (4, 1, 1), (1, 4, 4), (2, 2, 4), (2, 2, 1), (3, 1, 3)]
)
def test_every_batch_is_seen_once(before: int, share: int, ranks: int) -> None:
    state, seen = had(before, updates=5, share=share)
    assert len(seen) == 5 * share * before
    assert sorted([*seen, *rest(ranks, state)]) == list(range(BATCHES))


def test_where_ranks_do_not_divide_a_few_are_seen_again_and_none_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    state, seen = had(4, updates=5, share=1)
    with caplog.at_level("INFO", logger="realformer_nmt.fairseq_patches.checkpoints.elastic_resume"):
        remaining = rest(3, state)
    again = seen & set(remaining)
    assert len(again) == 2  # 20 batches, 6 a rank
    assert seen | set(remaining) == set(range(BATCHES))
    assert "the checkpoint is of 4 ranks, this run of 3: 2 batches are seen again" in caplog.text


@pytest.mark.stock
@pytest.mark.parametrize(("before", "ranks", "expected"), [(4, 2, 35), (2, 4, 25)])
def test_stock_fairseq_still_needs_the_patch(before: int, ranks: int, expected: int) -> None:
    """Each rank has done 5 of the 45 batches; stock leaves out 5 a rank on any number of ranks."""
    state, seen = had(before, updates=5, share=1)
    remaining = rest(ranks, state, stock=True)
    assert len(remaining) == expected != BATCHES - len(seen), "resume_on_other_ranks may be no longer needed"


@pytest.mark.parametrize("entry", ["batches", "ranks"])
def test_in_smaller_batches_the_epoch_begins_again(entry: str, caplog: pytest.LogCaptureFixture) -> None:
    """Batches of one sentence, then of half as many tokens; a checkpoint of before has no number of batches."""
    state, _ = had(1, updates=40, share=1)
    halves = EpochBatchIterator(
        ListDataset(list(range(2 * BATCHES)), [1] * 2 * BATCHES), list, [[n] for n in range(90)]
    )
    del state[{"batches": "ranks", "ranks": "batches"}[entry]]
    with caplog.at_level("INFO", logger="realformer_nmt.fairseq_patches.checkpoints.elastic_resume"):
        halves.load_state_dict(state)
    remaining = list(halves.next_epoch_itr(shuffle=True))
    assert len(remaining) == (90 if entry == "batches" else 50)
    assert ("the checkpoint's epoch is of 45 batches, here of 90: it begins again" in caplog.text) == (
        entry == "batches"
    )
