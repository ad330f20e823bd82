"""Chance among sequences: does a difference hold, and how far would other sequences move a score?"""

from collections.abc import Callable, Iterator

import numpy as np

AT_ONCE = 2**24  # numbers drawn


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


def interval(rows: np.ndarray, score: Callable[..., float], samples: int, seed: int) -> float:
    """Half of what holds 95 % of the bootstrap's samples; a score is of the sums of columns, the last of which are
    targets: a sample without one has no score."""
    chance, found = np.random.default_rng(seed), []
    for number in shares(samples, len(rows)):
        drawn = chance.integers(0, len(rows), (number, len(rows)))
        found += [score(*sums) for own in drawn if (sums := rows[own].sum(axis=0))[-1]]
    low, high = np.percentile(found, [2.5, 97.5])
    return float(high - low) / 2


def shares(samples: int, size: int) -> Iterator[int]:
    """So many samples, as many at once as memory has room for."""
    most = max(1, AT_ONCE // max(1, size))
    for begun in range(0, samples, most):
        yield min(most, samples - begun)
