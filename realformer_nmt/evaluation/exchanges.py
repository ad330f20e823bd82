"""Exchanges of sentences between two systems: how many change a metric, and the p of all exchanges of a few."""

import itertools
from collections.abc import Sequence

import numpy as np
from sacrebleu.metrics.base import Metric

FEW = 14  # sentences: their 2^13 different exchanges take less than a second
ROUNDING = 1e-9  # sums in another order differ in their last digits


class Exchanges:
    """Statistics of two systems' sentences; sentences that are equal in both are summed apart."""

    def __init__(
        self, metric: Metric, system: Sequence[str], baseline: Sequence[str], reference: Sequence[str]
    ) -> None:
        rows = [
            np.array(metric._extract_corpus_statistics(lines, [reference]), dtype=float) for lines in (system, baseline)
        ]
        unequal = (rows[0] != rows[1]).any(axis=1)
        self.metric, self.number = metric, int(unequal.sum())
        self.same = rows[0][~unequal].sum(axis=0)
        self.system, self.baseline = (each[unequal] for each in rows)  # sentences x statistics

    def smallest_p(self) -> float:
        """Return 2^(1-d): of the 2^d ways to exchange d sentences two at least, all and none, reach the difference."""
        return min(1.0, 2.0 ** (1 - self.number))

    def p_of_all(self) -> float:
        """Return the share of all exchanges that reach the difference. Those that keep the first sentence are half of
        them, and the others mirror these."""
        rest = list(itertools.product((False, True), repeat=self.number - 1))
        exchanged = np.column_stack([np.zeros(len(rest), dtype=bool), np.array(rest, dtype=bool)])
        differences = self._differences(exchanged)  # none are exchanged in the first
        return float(np.mean(differences >= differences[0] * (1 - ROUNDING)))

    def _differences(self, exchanged: np.ndarray) -> np.ndarray:
        """Return the absolute difference of the two systems for each row of sentences to exchange."""
        one = self._scores(~exchanged @ self.system + exchanged @ self.baseline)
        other = self._scores(~exchanged @ self.baseline + exchanged @ self.system)
        distances: np.ndarray = np.abs(one - other)
        return distances

    def _scores(self, unequal: np.ndarray) -> np.ndarray:
        """Return the score of each row of summed statistics of the unequal sentences."""
        return np.array([self.metric._aggregate_and_compute([row]).score for row in self.same + unequal])
