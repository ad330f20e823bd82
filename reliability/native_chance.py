"""Random choices that a seed and the number of a call decide."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")


class Chance:
    """The same choices each time, on every machine."""

    def __init__(self, *seeds: int) -> None:
        self.generator = np.random.default_rng(seeds)

    def below(self, limit: int) -> int:
        return int(self.generator.integers(limit))

    def between(self, least: int, most: int) -> int:
        return least + self.below(most - least + 1)

    def happens(self, share: float) -> bool:
        return bool(self.generator.random() < share)

    def choice(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]

    def some(self, items: Sequence[Item], number: int) -> list[Item]:
        """Return different items, in random order."""
        return [items[index] for index in self.generator.permutation(len(items))[:number]]
