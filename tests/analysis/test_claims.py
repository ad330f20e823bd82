"""Answers to the claims, of figures made up so that each is known."""

import json
from pathlib import Path

import numpy as np
import pytest
from fixture_types import Once
from msgspec.structs import replace
from tiny_models import analysed

from realformer_nmt.analysis.analysis_record import AnalysisRecord
from realformer_nmt.analysis.claims import CLAIMS, HE, LIU, XIE, TrainedModel, summary
from realformer_nmt.common.files import records


def trained(family: str, value: float) -> TrainedModel:
    sides = {"encoder": value, "decoder": value}
    return TrainedModel(family=family, layers=6, entropy=sides, divergence=sides, cosine=sides, last_branch=sides)


def answers(paper: str, rows: list[TrainedModel]) -> list[bool]:
    return [answer.agrees for claim in CLAIMS if claim.paper == paper for answer in claim.check(rows)]


def test_figures_as_predicted_agree() -> None:
    rows = [trained("realformer", 0.1), trained("resi_dual", 0.2), trained("admin", 0.5), trained("pre_ln", 0.9)]
    assert answers(HE, rows) == [True, True]
    assert answers(XIE, rows) == [True, True]
    assert answers(LIU, rows) == [False]  # Pre-LN's last branch is the larger one here


def test_figures_of_another_shape_do_not() -> None:
    rows = [trained("realformer", 0.3), trained("pre_ln", 0.1)]
    assert answers(HE, rows) == [False, False]
    assert answers(LIU, rows) == []  # nothing to compare with: no answer, rather than one


def test_models_of_one_layer_have_no_answer_about_layers_above() -> None:
    rows = [
        replace(trained(family, value), layers=1, divergence={})
        for family, value in (("realformer", 0.1), ("pre_ln", 0.2))
    ]
    assert answers(HE, rows) == [True]  # of entropy alone


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
