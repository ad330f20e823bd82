"""Random choices from SHA-256, which are the same on every platform and in every version of Python."""

import functools
import hashlib
import itertools
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

Thing = TypeVar("Thing")
BITS = 53  # of a float


class Chance:
    """A generator of random choices from a seed."""

    def __init__(self, seed: int) -> None:
        self._numbers = _numbers(seed)

    def _fraction(self) -> float:
        return next(self._numbers) / (1 << BITS)

    def happens(self, percent: float) -> bool:
        return self._fraction() * 100 < percent

    def below(self, number: int) -> int:
        return int(self._fraction() * number)

    def pick(self, things: Sequence[Thing]) -> Thing:
        return things[self.below(len(things))]

    def frequent(self, things: Sequence[Thing]) -> Thing:
        """Return one of them, the n-th with probability proportional to 1 / n (Zipf's law)."""
        sums = _zipf(len(things))
        return things[bisect_right(sums, self._fraction() * sums[-1])]

    def weighted(self, weights: Mapping[str, int]) -> str:
        sums = list(itertools.accumulate(weights.values()))
        return list(weights)[bisect_right(sums, self.below(sums[-1]))]


def _numbers(seed: int) -> Iterator[int]:
    for block in itertools.count():
        digest = hashlib.sha256(f"{seed} {block}".encode()).digest()
        for start in range(0, len(digest), 8):
            yield int.from_bytes(digest[start : start + 8], "big") >> (64 - BITS)


@functools.cache
def _zipf(number: int) -> tuple[float, ...]:
    return tuple(itertools.accumulate(1 / rank for rank in range(1, number + 1)))  # sum() differs between Pythons
