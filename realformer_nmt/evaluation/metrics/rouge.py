"""ROUGE (Lin 2004), for summaries: overlap of hypothesis and reference, in lower-case words without stemming.

English is counted as by the package rouge-score 0.1.2, which, unlike here, counts no letters of other languages.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import regex
from sacrebleu.metrics.base import Signature

from realformer_nmt.evaluation.metrics.segment_mean import MeanOfLines

WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}\p{M}]*")  # marks are the vowels of Hindi, the accents of NFD
Words = Sequence[str]


def ngrams_shared(n: int) -> Callable[[Words, Words], tuple[int, int, int]]:
    """Return the counts of ROUGE-N (section 2): n-grams of both, of the hypothesis, of the reference."""

    def shared(hypothesis: Words, reference: Words) -> tuple[int, int, int]:
        hypothesis_ngrams, reference_ngrams = ngrams(hypothesis, n), ngrams(reference, n)
        both = hypothesis_ngrams & reference_ngrams
        return both.total(), hypothesis_ngrams.total(), reference_ngrams.total()

    return shared


def ngrams(words: Words, n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))


def longest_shared(hypothesis: Words, reference: Words) -> tuple[int, int, int]:
    """Return the counts of ROUGE-L (section 3.1): longest common subsequence, words of hypothesis and reference."""
    above = [0] * (len(reference) + 1)
    for word in hypothesis:
        row = [0]
        for index, reference_word in enumerate(reference):
            row.append(above[index] + 1 if word == reference_word else max(row[-1], above[index + 1]))
        above = row
    return above[-1], len(hypothesis), len(reference)


class RougeSignature(Signature):
    def __init__(self, args: dict[str, object]) -> None:
        super().__init__(args)
        self.info |= {"case": "lc", "tok": "words", "stem": False}


class Rouge(MeanOfLines):
    """The mean over lines of 100 F1, F1 = 2 shared / (words of the hypothesis + words of the reference).

    Of several references the best counts.
    """

    _SIGNATURE_TYPE = RougeSignature
    scale = 100
    shared: Callable[[Words, Words], tuple[int, int, int]]

    def _preprocess_segment(self, sent: str) -> str:
        return sent.lower()

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, list[Words]]:
        return {"references": [WORD.findall(reference) for reference in refs]}

    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: Mapping[str, Sequence[Words]]) -> list[float]:
        words = WORD.findall(hypothesis)
        return [max(f1(*self.shared(words, reference)) for reference in ref_kwargs["references"]), 1]


class Rouge1(Rouge):
    label, shared = "ROUGE-1", staticmethod(ngrams_shared(1))


class Rouge2(Rouge):
    label, shared = "ROUGE-2", staticmethod(ngrams_shared(2))


class RougeL(Rouge):
    label, shared = "ROUGE-L", staticmethod(longest_shared)


def f1(shared: int, hypothesis: int, reference: int) -> float:
    return 2 * shared / (hypothesis + reference) if shared else 0.0
