"""Chance among sequences, against scipy and the formula of a mean's error."""

import math

import numpy as np
import pytest
from scipy.stats import permutation_test

from realformer_nmt.evaluation.rows.resampling import interval, randomised

SAMPLES = 10_000


def loss_a_target(rows: np.ndarray) -> np.ndarray:
    losses: np.ndarray = rows[..., 0].sum(-1) / rows[..., 2].sum(-1)
    return losses


@pytest.mark.parametrize("shift", [0.0, 0.3, 0.8])
def test_p_is_that_of_all_exchanges(shift: float) -> None:
    differences = np.random.default_rng(1).normal(shift, 1, 14)
    exact = permutation_test((differences,), np.sum, permutation_type="samples", n_resamples=np.inf).pvalue
    assert randomised(differences, SAMPLES, 1) == pytest.approx(exact, abs=4 * math.sqrt(exact / SAMPLES))


def test_what_does_not_differ_says_nothing() -> None:
    assert randomised(np.zeros(9), SAMPLES, 1) == 1
    assert randomised(np.array([0.0, 2.0, 0.0, 1.0]), SAMPLES, 1) >= 0.5  # two of the four exchanges


def test_many_sequences_are_drawn_in_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = np.random.default_rng(1).normal(0.2, 1, 50)
    whole = randomised(differences, SAMPLES, 1)
    monkeypatch.setattr("realformer_nmt.evaluation.rows.resampling.AT_ONCE", 5000)
    assert randomised(differences, SAMPLES, 1) == pytest.approx(whole, abs=0.02)


def test_the_interval_of_a_mean_is_that_of_its_error() -> None:
    values = np.random.default_rng(1).normal(5, 2, 900)
    rows = np.stack([values, np.zeros(900), np.ones(900)], axis=1)
    half_width = interval(rows, loss_a_target, 4000, 1)
    assert half_width == pytest.approx(1.96 * values.std() / math.sqrt(900), rel=0.05)


@np.errstate(invalid="ignore")
def test_samples_without_a_target_have_no_score() -> None:
    rows = np.array([[2.0, 0, 1], [0.0, 0, 0], [0.0, 0, 0], [4.0, 1, 1]])  # as of lines too short to be masked
    half_width = interval(rows, loss_a_target, 4000, 1)
    assert half_width == pytest.approx(1)  # from the one to the other alone: 2 to 4
