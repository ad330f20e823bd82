"""Pairs that people rank as a metric does, beside figures of the authors' own tool, mt-thresholds 0.0.1."""

import pytest

from realformer_nmt.evaluation.agreement import agreement, fit, shown

COMET = "nrefs:1|model:{}|sha256:0|precision:fp32|version:2.6.0"


@pytest.mark.parametrize(
    ("metric", "model", "difference", "percent"),
    [
        ("bleu", "", 1.0, 63.989),
        ("bleu", "", 5.0, 87.635),
        ("bleu", "", -1.0, 63.989),
        ("chrf", "", 0.710, 63.989),
        ("chrf", "", 2.0, 83.959),
        ("comet", "wmt22-comet-da", 0.5, 77.462),
        ("comet", "wmt22-comet-da", 2.0, 95.894),
    ],
)
def test_it_is_what_the_authors_tool_says(metric: str, model: str, difference: float, percent: float) -> None:
    assert agreement(metric, COMET.format(model), difference) == pytest.approx(percent, abs=0.02)


def test_nothing_is_said_where_nothing_is_published() -> None:
    assert fit("rouge_1", None) is fit("comet", COMET.format("mine")) is fit("tokenised_bleu", "nrefs:1") is None
    assert agreement("comet", COMET.format("mine"), 1.0) is agreement("bleu", None, None) is None


def test_below_chance_the_fit_says_nothing() -> None:
    assert [shown(agreement("bleu", None, value)) for value in (0.0, 0.2, 1.0)] == ["about 50 %", "about 50 %", "64 %"]
    assert shown(None) == ""
