"""Figures of sentences against sklearn's and scipy's, of one sample and of several at once."""

import numpy as np
import pytest
from scipy.stats import pearsonr, permutation_test, spearmanr
from sklearn.metrics import accuracy_score, matthews_corrcoef

from realformer_nmt.evaluation import row_metrics as of_rows
from realformer_nmt.evaluation.row_metrics import Figure
from realformer_nmt.text_models.evaluation.resampling import exchanged


def rows(classes: int, number: int = 40, seed: int = 1) -> np.ndarray:
    """Half of the labels are told by chance."""
    chance = np.random.default_rng(seed)
    wanted = chance.integers(0, classes, number)
    told = np.where(chance.random(number) < 0.5, wanted, chance.integers(0, classes, number))
    return np.stack([chance.random(number), told, wanted], axis=1).astype(float)


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_classes_are_judged_as_sklearn_judges_them(classes: int) -> None:
    samples = np.stack([rows(classes, seed=seed) for seed in range(4)])
    for own, right, related in zip(samples, of_rows.accuracy(samples), of_rows.matthews(samples), strict=True):
        _, told, wanted = own.T
        assert right == pytest.approx(100 * accuracy_score(wanted, told))
        assert related == pytest.approx(100 * matthews_corrcoef(wanted, told))
    one = samples[0] * [1, 0, 1]  # always the same class
    assert of_rows.matthews(one) == matthews_corrcoef(one[:, 2], one[:, 1]) == 0


def test_numbers_are_judged_as_scipy_judges_them() -> None:
    samples = np.stack([rows(9, seed=seed) for seed in range(4)])  # with many ties
    for own, linear, ranked in zip(samples, of_rows.pearson(samples), of_rows.spearman(samples), strict=True):
        _, told, wanted = own.T
        assert linear == pytest.approx(100 * pearsonr(told, wanted).statistic)
        assert ranked == pytest.approx(100 * spearmanr(told, wanted).statistic)


@pytest.mark.parametrize("figure", [of_rows.matthews, of_rows.pearson, of_rows.spearman])
def test_p_of_a_figure_that_is_no_sum_is_that_of_scipys_exchanges(figure: Figure) -> None:
    ours, theirs = rows(5, seed=1), rows(5, seed=2)
    ours[:, 2] = theirs[:, 2] = rows(5, seed=3)[:, 2]
    ours[:25, 1] = ours[:25, 2]

    def difference(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        assert axis == -1
        wanted = np.broadcast_to(ours[:, 2], x.shape)
        return figure(np.stack([x, x, wanted], -1)) - figure(np.stack([y, y, wanted], -1))

    told = (ours[:, 1], theirs[:, 1])
    chance = {"n_resamples": 4000, "rng": np.random.default_rng(1), "vectorized": True}
    p = permutation_test(told, difference, permutation_type="samples", **chance).pvalue
    assert exchanged(ours, theirs, figure, 4000, 1) == pytest.approx(p, abs=0.03)
    assert exchanged(ours, ours, figure, 100, 1) == 1


def test_what_has_no_figure_is_not_told_apart() -> None:
    ours, theirs = rows(5), rows(5) * [1, 0, 1]
    with np.errstate(invalid="ignore"):
        assert exchanged(ours, theirs, of_rows.pearson, 100, 1) == 1
