"""Figures of sentences against sklearn's and scipy's, of one sample and of several at once."""

import numpy as np
import pytest
from scipy.stats import pearsonr, permutation_test, spearmanr
from sklearn.metrics import accuracy_score, matthews_corrcoef

from realformer_nmt.evaluation.metrics import row_metrics as of_rows
from realformer_nmt.evaluation.metrics.row_metrics import Figure
from realformer_nmt.evaluation.rows.resampling import exchanged


def rows(classes: int, number: int = 40, seed: int = 1) -> np.ndarray:
    """Half of the labels are guessed."""
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, classes, number)
    predictions = np.where(chance.random(number) < 0.5, labels, chance.integers(0, classes, number))
    return np.stack([chance.random(number), predictions, labels], axis=1).astype(float)


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_classes_are_judged_as_sklearn_judges_them(classes: int) -> None:
    samples = np.stack([rows(classes, seed=seed) for seed in range(4)])
    for sample, right, related in zip(samples, of_rows.accuracy(samples), of_rows.matthews(samples), strict=True):
        _, predictions, labels = sample.T
        assert right == pytest.approx(100 * accuracy_score(labels, predictions))
        assert related == pytest.approx(100 * matthews_corrcoef(labels, predictions))
    one = samples[0] * [1, 0, 1]  # always the same class
    assert of_rows.matthews(one) == matthews_corrcoef(one[:, 2], one[:, 1]) == 0


def test_matthews_of_many_sentences_is_that_of_few_repeated() -> None:
    few = rows(3)
    assert of_rows.matthews(np.tile(few, (5000, 1))) == pytest.approx(of_rows.matthews(few))  # 200,000 rows


def test_numbers_are_judged_as_scipy_judges_them() -> None:
    samples = np.stack([rows(9, seed=seed) for seed in range(4)])  # with many ties
    for sample, linear, ranked in zip(samples, of_rows.pearson(samples), of_rows.spearman(samples), strict=True):
        _, predictions, labels = sample.T
        assert linear == pytest.approx(100 * pearsonr(predictions, labels).statistic)
        assert ranked == pytest.approx(100 * spearmanr(predictions, labels).statistic)


@pytest.mark.parametrize("figure", [of_rows.matthews, of_rows.pearson, of_rows.spearman])
def test_p_of_a_figure_that_is_no_sum_is_that_of_scipys_exchanges(figure: Figure) -> None:
    first, second = rows(5, seed=1), rows(5, seed=2)
    first[:, 2] = second[:, 2] = rows(5, seed=3)[:, 2]
    first[:25, 1] = first[:25, 2]

    def difference(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        assert axis == -1
        labels = np.broadcast_to(first[:, 2], x.shape)
        return figure(np.stack([x, x, labels], -1)) - figure(np.stack([y, y, labels], -1))

    predictions = (first[:, 1], second[:, 1])
    chance = {"n_resamples": 4000, "rng": np.random.default_rng(1), "vectorized": True}
    p = permutation_test(predictions, difference, permutation_type="samples", **chance).pvalue
    assert exchanged(first, second, figure, 4000, 1) == pytest.approx(p, abs=0.03)
    assert exchanged(first, first, figure, 100, 1) == 1


def test_what_has_no_figure_is_not_distinguished() -> None:
    varied, constant = rows(5), rows(5) * [1, 0, 1]
    with np.errstate(invalid="ignore"):
        assert exchanged(varied, constant, of_rows.pearson, 100, 1) == 1
