"""ROUGE (Lin 2004), for summaries: what hypothesis and reference share, in words of small letters without stemming.

As the package rouge-score 0.1.2 counts English; letters of every other language are letters here, too.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from sacrebleu.metrics.base import Metric, Score, Signature

WORD = re.compile(r"[^\W_]+")
Words = Sequence[str]


def ngrams_shared(n: int) -> Callable[[Words, Words], tuple[int, int, int]]:
    """Of ROUGE-N, section 2: how many n-grams both have, the one, the other."""

    def shared(hypothesis: Words, reference: Words) -> tuple[int, int, int]:
        ours, theirs = (Counter(zip(*(text[k:] for k in range(n)), strict=False)) for text in (hypothesis, reference))
        return (ours & theirs).total(), ours.total(), theirs.total()

    return shared


def longest_shared(hypothesis: Words, reference: Words) -> tuple[int, int, int]:
    """Of ROUGE-L, section 3.1: how many words stand in both in the same order; all words of the one, of the other."""
    above = [0] * (len(reference) + 1)
    for word in hypothesis:
        row = [0]
        for place, other in enumerate(reference):
            row.append(above[place] + 1 if word == other else max(row[-1], above[place + 1]))
        above = row
    return above[-1], len(hypothesis), len(reference)


class RougeSignature(Signature):
    def __init__(self, args: dict[str, Any]) -> None:
        super().__init__(args)
        self.info |= {"case": "lc", "tok": "words", "stem": False}


class Rouge(Metric):
    """The mean over lines of F1 = 2 shared / (words of the one + words of the other), times 100. Of several references
    the best counts."""

    _SIGNATURE_TYPE = RougeSignature

    def __init__(self, label: str, shared: Callable[[Words, Words], tuple[int, int, int]]) -> None:
        super().__init__()
        self.label, self.shared = label, shared

    def _preprocess_segment(self, sent: str) -> str:
        return sent.lower()

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        return {"references": [WORD.findall(reference) for reference in refs]}

    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: dict[str, Any]) -> list[float]:
        words = WORD.findall(hypothesis)
        return [max(f1(*self.shared(words, reference)) for reference in ref_kwargs["references"]), 1]

    def _aggregate_and_compute(self, stats: list[list[float]]) -> Score:
        return self._compute_score_from_stats([sum(column) for column in zip(*stats, strict=True)])

    def _compute_score_from_stats(self, stats: Any) -> Score:
        return Score(self.label, 100 * float(stats[0]) / float(stats[1]))


def f1(shared: int, ours: int, theirs: int) -> float:
    return 2 * shared / (ours + theirs) if shared else 0.0
