"""Exchanges of sentences between two systems: how many change a metric, and the p of samples of them."""

from collections.abc import Sequence

import numpy as np
from sacrebleu.metrics.base import Metric

BLOCK = 128  # samples at a time; for a multiple of 32 numpy draws the same as for all samples at once
ROUNDING = 1e-9  # sums in another order differ in their last digits


class Exchanges:
    """Statistics of two systems' sentences; sentences that are equal in both are summed apart."""

    def __init__(
        self, metric: Metric, system: Sequence[str], baseline: Sequence[str], reference: Sequence[str]
    ) -> None:
        rows = [
            np.array(metric._extract_corpus_statistics(lines, [reference]), dtype=float) for lines in (system, baseline)
        ]
        self.unequal = (rows[0] != rows[1]).any(axis=1)
        self.metric, self.number = metric, int(self.unequal.sum())
        self.same = rows[0][~self.unequal].sum(axis=0)
        self.system, self.baseline = (each[self.unequal] for each in rows)  # sentences x statistics

    def smallest_p(self) -> float:
        """Return 2^(1-d): of the 2^d ways to exchange d sentences two at least, all and none, reach the difference."""
        return min(1.0, 2.0 ** (1 - self.number))

    def p_of_samples(self, samples: int, seed: int) -> float:
        """Return the share of sampled exchanges that reach the difference; the samples are those of sacreBLEU.

        sacreBLEU's own p counts only those that exceed the difference, and is smaller if some equal it.
        """
        generator = np.random.default_rng(seed)
        least = self._differences(np.zeros((1, self.number), dtype=bool))[0] * (1 - ROUNDING)
        reached = 0
        for start in range(0, samples, BLOCK):
            shape = (min(BLOCK, samples - start), len(self.unequal))
            exchanged = generator.integers(2, size=shape, dtype=bool)[:, self.unequal]
            reached += int((self._differences(exchanged) >= least).sum())
        return (reached + 1) / (samples + 1)

    def _differences(self, exchanged: np.ndarray) -> np.ndarray:
        """Return the absolute difference of the two systems for each row of sentences to exchange."""
        one = self._scores(~exchanged @ self.system + exchanged @ self.baseline)
        other = self._scores(~exchanged @ self.baseline + exchanged @ self.system)
        distances: np.ndarray = np.abs(one - other)
        return distances

    def _scores(self, unequal: np.ndarray) -> np.ndarray:
        """Return the score of each row of summed statistics of the unequal sentences."""
        return np.array([self.metric._aggregate_and_compute([row]).score for row in self.same + unequal])
