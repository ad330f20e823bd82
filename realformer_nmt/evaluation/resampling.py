"""Chance among sequences: does a difference hold, and how far would other sequences move a score?"""

from collections.abc import Iterator

import numpy as np

from realformer_nmt.evaluation.figures_of_rows import Figure

AT_ONCE = 2**24  # numbers drawn
ROOM = 8  # times as much, where rows are drawn


def randomised(differences: np.ndarray, samples: int, seed: int) -> float:
    """Paired approximate randomisation (Noreen 1989), two-sided: how often is a sum of differences, of which each has a
    sign by chance, as far from 0 as this one? Of the 2^d ways to exchange the d that are not 0, two at least are."""
    unequal = differences[differences != 0]
    least = abs(unequal.sum()) - 1e-9 * np.abs(unequal).sum()  # sums of another order differ in their last digits
    reached, chance = 0, np.random.default_rng(seed)
    for number in shares(samples, len(unequal)):
        signs = chance.integers(0, 2, (number, len(unequal)), dtype=np.int8) * 2 - 1
        reached += int((np.abs(signs @ unequal) >= least).sum())
    return max((reached + 1) / (samples + 1), min(1.0, 2.0 ** (1 - len(unequal))))


def exchanged(own: np.ndarray, other: np.ndarray, figure: Figure, samples: int, seed: int) -> float:
    """The same of a figure that is no sum over rows: rows of the two are exchanged whole. A sample that has none speaks
    for chance."""
    least = abs(figure(own) - figure(other)) * (1 - 1e-9)
    unequal = int((own != other).any(axis=1).sum())
    reached, chance = 0, np.random.default_rng(seed)
    for number in shares(samples, ROOM * own.size):
        swapped = chance.integers(0, 2, (number, len(own), 1), dtype=np.int8) == 1
        differences = figure(np.where(swapped, other, own)) - figure(np.where(swapped, own, other))
        reached += int((~(np.abs(differences) < least)).sum())
    return max((reached + 1) / (samples + 1), min(1.0, 2.0 ** (1 - unequal)))


def interval(rows: np.ndarray, figure: Figure, samples: int, seed: int) -> float:
    """Half of what holds 95 % of the bootstrap's samples; one without a target has no figure."""
    chance, found = np.random.default_rng(seed), []
    for number in shares(samples, ROOM * rows.size):
        found.append(figure(rows[chance.integers(0, len(rows), (number, len(rows)))]))
    every = np.concatenate(found)
    low, high = np.percentile(every[~np.isnan(every)], [2.5, 97.5])
    return float(high - low) / 2


def shares(samples: int, size: int) -> Iterator[int]:
    """So many samples, as many at once as memory has room for."""
    most = max(1, AT_ONCE // max(1, size))
    for begun in range(0, samples, most):
        yield min(most, samples - begun)
