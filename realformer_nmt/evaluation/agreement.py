"""How often people prefer the system that a metric prefers, by the difference of the two scores.

accuracy(d) = a / (1 + exp(-b d)) for a difference d >= 0 in points of the metric, fitted by Kocmi et al. (2024) to
pairs of systems of WMT with human judgements. COMET's points are of its score x 100, and of one model.
"""

import math
from typing import NamedTuple

from realformer_nmt.evaluation.metrics.metrics import signed_with

CHANCE = 50.0  # the fit begins below it


class Fit(NamedTuple):
    """Constants of a metric: the per cent that no difference exceeds, and how fast it is reached."""

    a: float
    b: float

    def accuracy(self, difference: float) -> float:
        return self.a / (1 + math.exp(-self.b * abs(difference)))


FITS = {  # by metric and, of a neural one, its model
    ("bleu", ""): Fit(88.333, 0.96639),
    ("chrf", ""): Fit(93.0, 1.11427),
    ("comet", "wmt22-comet-da"): Fit(96.2237, 2.83592),
    ("comet", "wmt22-cometkiwi-da"): Fit(98.8814, 2.71928),
}
HEAD = "people agree"
MEANING = (
    "People agree: of pairs of systems of WMT that differ by so much in this metric, the share of which people prefer "
    "the same one (Kocmi et al. 2024); at 50 % they see no difference."
)


def fit(metric: str, signature: str | None) -> Fit | None:
    """Return the constants of a metric; None if none are published."""
    return FITS.get((metric, signed_with(signature or "").get("model", "")))


def agreement(metric: str, signature: str | None, difference: float | None) -> float | None:
    """Return the per cent of pairs that people rank as the metric does; None if it is not known."""
    constants = fit(metric, signature)
    return None if constants is None or difference is None else constants.accuracy(difference)


def shown(agreement: float | None) -> str:
    """Return the per cent for a table; nothing is known below chance, where no pairs of WMT are."""
    if agreement is None:
        return ""
    return f"{agreement:.0f} %" if agreement > CHANCE else f"about {CHANCE:.0f} %"
