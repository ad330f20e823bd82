"""p-values: one for several seeds, the correction for several tests, and how they are shown."""

import math
from collections.abc import Sequence
from typing import NamedTuple

ALPHA = 0.05


class SeedDifference(NamedTuple):
    """Difference of two models of one seed, and its two-sided p."""

    difference: float
    p: float


def largest_p(differences: Sequence[SeedDifference], of_means: float | None) -> float | None:
    """Return the largest p over seeds; 1 if not all of them differ as the means do, which may be of more seeds."""
    signed = [seed.difference for seed in differences] + ([] if of_means is None else [of_means])
    directions = {(difference > 0) - (difference < 0) for difference in signed}
    largest = max((seed.p for seed in differences), default=None)
    return largest if largest is None or len(directions) == 1 else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Return adjusted p (Holm 1979): of m in rising order the k-th is max over j <= k of (m - j + 1) p_j, at most 1."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def is_bound(p: float, samples: int) -> bool:
    """Tell whether p is the smallest that so many samples can give, and so only an upper bound."""
    return p <= 1 / (samples + 1) + 1e-12


def shown(p: float, bound: bool) -> str:
    """Return p for a table; the smallest p of the number of samples is only an upper bound, and is rounded up. So is
    one that would round to 0."""
    rounds_to_0 = p < 0.5e-4
    return f"< {math.ceil(p * 10_000) / 10_000:.4f}" if bound or rounds_to_0 else f"{p:.4f}"
