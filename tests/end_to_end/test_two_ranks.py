"""RealFormer with its own loss and optimiser on two ranks: uneven, elastic, and bereft of one of them."""

from pathlib import Path

import pytest
from programs import commands

from reliability import ranks, trainings

UPDATES = 26  # over the end of an epoch, whose last update has a batch for one rank only


def test_saved_on_two_ranks_and_gone_on_with_on_one(trial_corpus: Path, tmp_path: Path) -> None:
    """13 updates each, with the same sentences an update, end with the parameters of one rank for all."""
    with commands.starting_forks():
        one = ranks.alone(trial_corpus, tmp_path / "one", UPDATES)
        assert ranks.elastic(trial_corpus, tmp_path / "elastic", UPDATES, one) < ranks.ROUNDING
    ranks.agree(tmp_path / "elastic")
    assert trainings.updates(tmp_path / "elastic" / ranks.LAST) == UPDATES


@pytest.mark.product
def test_a_rank_that_dies_ends_the_job_after_an_uneven_epoch(trial_corpus: Path, tmp_path: Path) -> None:
    """The 23rd update is the uneven one: the rank dies after it."""
    assert ranks.outlive_one(trial_corpus, tmp_path / "lost", 2 * (UPDATES - 1), "torchrun") < 30
