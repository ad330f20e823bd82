"""The figures in the recipes' README are those of the package's table of published scores."""

import pytest
from figures.pages import row, table, text

from realformer_nmt.evaluation.scoring.published import figures

REALFORMER = "RealFormer (He et al. 2021) table 7"
NEWSTEST = "tokenised BLEU newstest2014"


@pytest.mark.parametrize(
    ("recipe", "dataset", "paper", "metric", "phrase"),
    [
        ("wmt14_en_de", "WMT14 En-De", REALFORMER, NEWSTEST, "Tokenised BLEU on newstest2014"),
        ("wmt14_en_fr", "WMT14 En-Fr", REALFORMER, NEWSTEST, "Tokenised BLEU on newstest2014"),
        ("iwslt14_de_en", "IWSLT14", "ResiDual (Xie et al. 2023)", "BLEU", "at second hand"),
    ],
)
def test_published_figures_stand_first_and_are_right(
    recipe: str, dataset: str, paper: str, metric: str, phrase: str
) -> None:
    page = f"recipes/{recipe}/README.md"
    published = [figure for figure in figures(dataset) if figure.paper == paper]
    bleu = {
        (each.model, f"{each.encoder_layers}L-{each.decoder_layers}L"): "failed"
        if each.bleu is None
        else f"{each.bleu:.2f}"
        for each in published
    }
    models, depths = ([*dict.fromkeys(place[part] for place in bleu)] for part in (0, 1))
    assert f"| {' | '.join(depths)} |" in text(page)
    assert sorted(table(page)) == sorted(row(model, *(bleu[model, depth] for depth in depths)) for model in models)
    assert {figure.metric for figure in published} == {metric}
    assert text(page).index(phrase) < text(page).index("## Commands")
