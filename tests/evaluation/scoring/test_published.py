"""Published figures, and what they may stand beside."""

from typing import get_args

import pytest
from msgspec.structs import replace
from texts.translation_records import record

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.manifest_schema import Dataset
from realformer_nmt.evaluation.scoring import published, scoring


def test_a_manifest_may_name_the_datasets_of_the_table() -> None:
    with pytest.raises(UserError) as caught:
        published.figures("none")
    assert str(caught.value) == f"--published none is not one of {', '.join(get_args(Dataset))}"


def test_published_figures_keep_their_metric_and_source() -> None:
    figures = published.figures("WMT14 En-De")
    best = [f for f in figures if (f.model, f.encoder_layers, f.decoder_layers) == ("RealFormer", 18, 18)]
    assert [(f.bleu, f.paper) for f in best] == [(29.35, "RealFormer (He et al. 2021) table 7")]
    assert [f.bleu for f in figures if (f.model, f.encoder_layers) == ("Post-LN", 18)] == [None]
    papers = record(hyphens="aggressive", lines=3003)
    assert {scoring.comparable(figure, papers, ["tokenised_bleu"]) for figure in figures} == {"tokenised_bleu"}
    assert {scoring.comparable(figure, papers, ["bleu"]) for figure in figures} == {None}
    for other in (replace(papers, hyphens="plain"), replace(papers, hyphens=None), replace(papers, lines=2737)):
        assert {scoring.comparable(figure, other, ["tokenised_bleu"]) for figure in figures} == {None}
    assert {scoring.comparable(figure, papers, ["tokenised_bleu"]) for figure in published.figures("WMT")} == {None}
    assert scoring.dataset(record(published="WMT14 En-Fr", subset="test")) == "WMT14 En-Fr"
    assert scoring.dataset(record(published="WMT14 En-Fr", subset="valid")) is None
    assert scoring.dataset(record(published="WMT14 En-Fr", input="text")) is None
    assert scoring.dataset(record(published=None, subset="test")) is None
    with pytest.raises(UserError, match="did you mean WMT14 En-De"):
        published.figures("WMT14 En-Dee")
