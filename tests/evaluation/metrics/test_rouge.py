"""ROUGE by hand, and by every subsequence that there is."""

import itertools

import pytest

from realformer_nmt.evaluation.metrics import metrics
from realformer_nmt.evaluation.metrics.metric_table import SUMMARY
from realformer_nmt.evaluation.metrics.metrics import ScoredTexts, measure
from realformer_nmt.evaluation.metrics.rouge import RougeL, longest_shared

ROUGE = ("rouge_1", "rouge_2", "rouge_l")


def scores(hypotheses: list[str], reference: list[str]) -> list[float]:
    rouge = metrics.scores({SUMMARY: ScoredTexts("raw text", hypotheses, reference)}, 0)
    assert list(rouge) == list(ROUGE)
    return [rouge[name].score for name in ROUGE]


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        # Lin 2004, section 3.1: both share three words; in order "police killed the gunman" shares police, the, gunman
        ("police kill the gunman", "police killed the gunman", [3 / 4, 1 / 3, 3 / 4]),
        ("the gunman kill police", "police killed the gunman", [3 / 4, 1 / 3, 1 / 2]),
        ("The cat, the CAT!", "the cat", [2 * 2 / 6, 2 * 1 / 4, 2 * 2 / 6]),  # each word of the reference counts once
        ("größer_als 3.5", "Größer als 3,5", [1, 1, 1]),
        # rouge-score 0.1.2 has 73.6842, 11.7647 and 31.5789: 7, 1 and 3 words of 9 and 10
        ("It's 3.5 degrees in run_fast mode", "in RUN mode it is 3 degrees, 5 at most", [14 / 19, 2 / 17, 6 / 19]),
        ("की किताब", "का किताब", [1 / 2, 0, 1 / 2]),  # "of", feminine and masculine: they differ in a vowel sign
        ("cafe\u0301s", "caf s", [0, 0, 0]),
        ("", "a word", [0, 0, 0]),
        ("!", "?", [0, 0, 0]),
    ],
)
def test_the_share_by_hand(hypothesis: str, reference: str, expected: list[float]) -> None:
    assert scores([hypothesis], [reference]) == pytest.approx([100 * share for share in expected])


def test_the_longest_shared_is_that_of_all_subsequences() -> None:
    texts = ["".join(letters) for length in range(5) for letters in itertools.product("abc", repeat=length)]
    every = {text: {some for number in range(5) for some in itertools.combinations(text, number)} for text in texts}
    for first, second in itertools.product(texts, repeat=2):
        longest = max(map(len, every[first] & every[second]))
        assert longest_shared(first, second) == (longest, len(first), len(second))


def test_it_is_the_mean_over_lines_and_has_an_interval() -> None:
    hypotheses, reference = ["a b c d"] * 30 + ["x y"] * 10, ["a b c d"] * 40
    with metrics.seeded(1):
        rouge_l = measure(RougeL(), "", ScoredTexts("", hypotheses, reference), 500)
    assert rouge_l.score == pytest.approx(75)
    assert rouge_l.interval == pytest.approx(196 * (0.75 * 0.25 / 40) ** 0.5, rel=0.2)  # of a share of 40 lines
    assert "case:lc|tok:words|stem:no" in rouge_l.signature
