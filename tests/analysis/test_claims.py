"""Answers to the claims, of figures made up so that each is known."""

import json
from pathlib import Path

import numpy as np
import pytest
from fixture_types import Once
from msgspec import convert
from msgspec.structs import replace
from tiny_models import analysed

from realformer_nmt.analysis import claims
from realformer_nmt.analysis.analysis_record import AnalysisRecord
from realformer_nmt.analysis.claims import (
    CLAIMS,
    HE,
    LIU,
    XIE,
    XIONG,
    ClaimsRecord,
    TrainedModel,
    UntrainedModel,
    summary,
    table,
)
from realformer_nmt.common.files import records

DEPTHS = (6, 12, 24)


def start(**powers: float) -> list[UntrainedModel]:
    """post_ln_last=-0.5 and so on; what is not named does not depend on depth."""
    families = ("post_ln", "pre_ln", "admin", "resi_dual")
    return [
        UntrainedModel(
            family=family,
            layers=layers,
            **{figure: 3 * layers ** powers.get(f"{family}_{figure}", 0.0) for figure in ("last", "first", "change")},
        )
        for family in families
        for layers in DEPTHS
    ]


def trained(family: str, value: float) -> TrainedModel:
    sides = {"encoder": value, "decoder": value}
    return TrainedModel(family=family, layers=6, entropy=sides, divergence=sides, cosine=sides, last_branch=sides)


def answers(paper: str, of: str, rows: list[UntrainedModel] | list[TrainedModel]) -> list[bool]:
    record = convert({of: rows}, ClaimsRecord, from_attributes=True)
    return [
        answer.agrees for claim in CLAIMS if (claim.paper, claim.of) == (paper, of) for answer in claim.check(record)
    ]


def test_figures_as_predicted_agree() -> None:
    rows = start(post_ln_first=-1.0, pre_ln_last=-0.5, pre_ln_first=-0.5, post_ln_change=1.0, pre_ln_change=0.3)
    assert [all(answers(paper, "start", rows)) for paper in (XIONG, XIE, LIU)] == [True, True, True]
    rows = [trained("realformer", 0.1), trained("resi_dual", 0.2), trained("admin", 0.5), trained("pre_ln", 0.9)]
    assert answers(HE, "trained", rows) == [True, True]
    assert answers(XIE, "trained", rows) == [True, True]
    assert answers(LIU, "trained", rows) == [False]  # Pre-LN's last branch is the larger one here


def test_figures_of_another_shape_do_not() -> None:
    rows = start(post_ln_last=-0.5, pre_ln_last=0.0, pre_ln_first=1.0, post_ln_change=0.4, resi_dual_first=-1.0)
    assert answers(XIONG, "start", rows) == [False, False, False, False]
    assert answers(XIE, "start", rows) == [False, False]
    assert answers(LIU, "start", rows) == [False, True, True]
    rows = [trained("realformer", 0.3), trained("pre_ln", 0.1)]
    assert answers(HE, "trained", rows) == [False, False]
    assert answers(LIU, "trained", rows) == []  # nothing to compare with: no answer, rather than one


def test_models_of_one_layer_have_no_answer_about_layers_above() -> None:
    rows = [
        replace(trained(family, value), layers=1, divergence={})
        for family, value in (("realformer", 0.1), ("pre_ln", 0.2))
    ]
    assert answers(HE, "trained", rows) == [True]  # of entropy alone


def test_a_slope_is_the_least_squares_line_through_the_logarithms() -> None:
    rows = [
        UntrainedModel(family="a", layers=layers, last=value, first=1, change=1)
        for layers, value in zip(DEPTHS, (3, 1, 2), strict=True)
    ]
    expected = np.polyfit(np.log(DEPTHS), np.log([3, 1, 2]), 1)[0]
    assert claims.slope(rows, "last") == pytest.approx(expected)


def test_the_table_shows_figure_and_answer() -> None:
    record = ClaimsRecord(start=start(pre_ln_last=-0.5), trained=[trained("realformer", 0.3), trained("pre_ln", 0.1)])
    (line,) = [line for line in table(record).splitlines() if "Pre-LN: the gradient of the last" in line]
    assert line.endswith("| 1.22 with 6, 0.866 with 12, 0.612 with 24 layers: power -0.50 | yes |")
    (line,) = [line for line in table(record).splitlines() if "sparser" in line]
    assert "6 layers: encoder 0.30, the others from 0.10" in line
    assert line.endswith("| **no** |")


def test_layers_that_are_needed() -> None:
    losses = {"encoder": [0.5, 0.0, 0.021, -0.1], "decoder": [0.02, 0.3, 0.3, 0.3]}
    lines = claims.needed(ClaimsRecord(trained=[TrainedModel(family="a", layers=4, left_out=losses)])).splitlines()
    assert lines[-1] == "| 4 | `a` | 2 | 3 |"


def test_the_summary_of_a_model_is_of_its_record(once: Once, toy_corpus: Path) -> None:
    filled = once("analysis", analysed.Analysis(once("analysed_models", analysed.Models(toy_corpus))))
    model = json.loads((filled / "analysis.json").read_text())["models"][1]
    row = summary(records.read(filled / "analysis.json", AnalysisRecord, "").models[1])
    assert (row.family, row.layers) == ("pre_ln_tiny", 2)
    chains, checkpoint = model["attention"]["chains"], model["depth"]["checkpoint"]
    assert row.entropy["decoder"] == pytest.approx(np.mean(chains["decoder"]["entropy"]["mean"]))
    assert row.divergence["encoder-decoder"] == pytest.approx(np.mean(chains["encoder-decoder"]["divergence"]["mean"]))
    assert row.cosine["encoder"] == checkpoint["likeness"]["encoder"]["cosine"][1]  # the upper of two layers
    sublayers = checkpoint["stream"]["decoder"]["sublayers"]
    assert row.last_branch["decoder"] == sublayers["layers.1.ffn"]["share_of_branch"]
