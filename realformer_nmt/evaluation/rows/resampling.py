"""Resampling of sequences: p-values of differences and intervals of scores."""

from collections.abc import Iterator

import numpy as np

from realformer_nmt.evaluation.metrics.row_metrics import Figure

AT_ONCE = 2**24  # numbers drawn at a time
ROW_COST = 8  # memory of a number of a row, in drawn numbers


def randomised(differences: np.ndarray, samples: int, seed: int) -> float:
    """Return the two-sided p of paired approximate randomisation (Noreen 1989).

    p is the share of samples, with a random sign for each difference, whose sum is as far from 0 as the given one. Of
    the 2^d ways to exchange the d differences that are not 0, two at least are: p >= 2^(1-d).
    """
    unequal = differences[differences != 0]
    least = abs(unequal.sum()) - 1e-9 * np.abs(unequal).sum()  # sums in another order differ in their last digits
    reached, chance = 0, np.random.default_rng(seed)
    for number in shares(samples, len(unequal)):
        signs = chance.integers(0, 2, (number, len(unequal)), dtype=np.int8) * 2 - 1
        reached += int((np.abs(signs @ unequal) >= least).sum())
    return max((reached + 1) / (samples + 1), min(1.0, 2.0 ** (1 - len(unequal))))


def exchanged(candidate: np.ndarray, baseline: np.ndarray, figure: Figure, samples: int, seed: int) -> float:
    """Return the p of `randomised` for a figure that is no sum over rows: whole rows of the two are exchanged.

    A sample in which the figure is NaN counts as reaching the difference.
    """
    least = abs(figure(candidate) - figure(baseline)) * (1 - 1e-9)
    unequal = int((candidate != baseline).any(axis=1).sum())
    reached, chance = 0, np.random.default_rng(seed)
    for number in shares(samples, ROW_COST * candidate.size):
        swapped = chance.integers(0, 2, (number, len(candidate), 1), dtype=np.int8) == 1
        first, second = np.where(swapped, baseline, candidate), np.where(swapped, candidate, baseline)
        differences = figure(first) - figure(second)
        reached += int((~(np.abs(differences) < least)).sum())
    return max((reached + 1) / (samples + 1), min(1.0, 2.0 ** (1 - unequal)))


def interval(rows: np.ndarray, figure: Figure, samples: int, seed: int) -> float:
    """Return half the width of the bootstrap's 95 % interval; samples whose figure is NaN are ignored."""
    chance, batches = np.random.default_rng(seed), []
    for number in shares(samples, ROW_COST * rows.size):
        batches.append(figure(rows[chance.integers(0, len(rows), (number, len(rows)))]))
    values = np.concatenate(batches)
    low, high = np.percentile(values[~np.isnan(values)], [2.5, 97.5])
    return float(high - low) / 2


def shares(samples: int, size: int) -> Iterator[int]:
    """Yield the sizes of the batches in which samples of `size` numbers are drawn."""
    largest = max(1, AT_ONCE // max(1, size))
    for start in range(0, samples, largest):
        yield min(largest, samples - start)
