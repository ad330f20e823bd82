"""Verdicts on a model's curve: stuck, diverged or neither."""

import json
import math
from collections import Counter
from pathlib import Path

import pytest

from realformer_nmt.checkpoints.run_files import DIVERGENCE
from realformer_nmt.comparison.grid.cell import Failure
from realformer_nmt.comparison.records.curves import CurvePoint
from realformer_nmt.comparison.running.verdict import diverged, stuck, unigram_entropy

FAILURE = Failure(judged_after=100, margin=0.1)


def curve(losses: dict[int, float]) -> list[CurvePoint]:
    return [CurvePoint(update=update, loss=loss, nll_loss=loss) for update, loss in losses.items()]


def test_the_entropy_is_that_of_the_words_of_the_target(toy_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in the text, each sentence's end as a word."""
    monkeypatch.setattr("realformer_nmt.comparison.running.verdict.BLOCK", 1000)
    lines = toy_corpus.with_name("train.tgt").read_text().splitlines()
    counts = Counter(word for line in lines for word in [*line.split(), "</s>"])
    total = sum(counts.values())
    entropy = -sum(count / total * math.log2(count / total) for count in counts.values())
    assert unigram_entropy(toy_corpus, "src", "tgt") == pytest.approx(entropy, abs=1e-12)


@pytest.mark.parametrize(
    ("losses", "ended", "verdict"),
    [
        ({50: 6.0}, False, False),  # too early
        ({100: 6.0}, False, True),
        ({100: 4.95}, False, True),  # within the margin
        ({100: 4.85}, False, False),
        ({50: 6.0}, True, True),  # of 50 updates, or of 59: a curve has a point at every twentieth, say
        ({80: 6.0, 85: 4.0, 90: 4.0, 95: 4.0, 100: 4.0, 105: 4.0}, False, False),  # the last five count
        ({80: 4.0, 100: 4.0, 120: 6.0, 140: 6.0, 160: 6.0, 180: 6.0}, False, True),  # it has left, and come back
        ({}, True, False),
    ],
)
def test_stuck_is_a_loss_that_has_not_left_the_entropy(losses: dict[int, float], ended: bool, verdict: bool) -> None:
    actual = stuck(curve(losses), [], ended, 5.0, FAILURE)
    assert (actual is not None) == verdict
    if actual:
        assert actual.state == "stuck"
        assert "5.00" in actual.evidence


@pytest.mark.parametrize(
    ("valid", "ended", "verdict"),
    [
        ({}, True, False),  # by its last point
        ({80: 4.655}, True, False),
        ({}, False, False),  # nor is a training stopped that has learned by then
    ],
)
def test_a_short_training_is_judged_by_what_it_has_learned_at_its_end(
    valid: dict[int, float], ended: bool, verdict: bool
) -> None:
    """The curve of 80 updates of a first comparison, whose words have an entropy of 6.15 bits."""
    losses = {20: 9.24, 40: 6.44, 60: 5.47, 80: 5.10}
    assert bool(stuck(curve(losses), curve(valid), ended, 6.15, Failure(judged_after=80))) == verdict


def test_a_training_without_a_point_in_its_curve_is_judged_by_its_validation() -> None:
    assert stuck([], curve({8: 10.83}), True, 7.40, FAILURE) == (
        "stuck",
        "validation loss 10.83 bits a token after 8 updates; the words' frequencies alone give 7.40",
    )
    assert stuck([], curve({8: 4.0}), True, 7.40, FAILURE) is None


@pytest.mark.parametrize(
    ("valid", "verdict"),
    [({60: 4.0}, True), ({90: 4.0}, False), ({90: 6.0}, True)],  # of an earlier model; of the last; no better
)
def test_only_a_validation_at_the_end_counts(valid: dict[int, float], verdict: bool) -> None:
    assert bool(stuck(curve({60: 5.0, 80: 5.0}), curve(valid), True, 5.0, FAILURE)) == verdict


def test_a_loss_that_is_no_number_is_divergence(tmp_path: Path) -> None:
    assert diverged(tmp_path, curve({10: 5.0})) is None
    for broken in (math.nan, math.inf):
        verdict = diverged(tmp_path, curve({10: 5.0, 20: broken, 30: 5.0}))
        assert verdict is not None
        assert verdict.state == "diverged"
        assert "at update 20" in verdict.evidence


def test_what_the_training_noted_is_divergence(tmp_path: Path) -> None:
    (tmp_path / DIVERGENCE).write_text(json.dumps({"error": "Minimum loss scale reached (0.0001)", "update": 77}))
    verdict = diverged(tmp_path, [])
    assert verdict is not None
    assert verdict.evidence == "Minimum loss scale reached (0.0001) at update 77"
