"""The figures in the recipes' README are those of the package's table of published scores."""

from pathlib import Path

import pytest

from realformer_nmt.evaluation.scoring.published import figures

RECIPES = Path(__file__).resolve().parents[2] / "recipes"
REALFORMER = "RealFormer (He et al. 2021) table 7"
NEWSTEST = "tokenised BLEU newstest2014"


def rows(text: str) -> list[list[str]]:
    """The cells of the first table."""
    table = text[text.index("\n|") :].strip().split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


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
    text = (RECIPES / recipe / "README.md").read_text()
    head, _, *models = rows(text)
    shown = {(model, depth): cell for model, *cells in models for depth, cell in zip(head[1:], cells, strict=True)}
    table = {
        (figure.model, f"{figure.encoder_layers}L-{figure.decoder_layers}L"): figure
        for figure in figures(dataset)
        if figure.paper == paper
    }
    assert shown == {key: "failed" if figure.bleu is None else f"{figure.bleu:.2f}" for key, figure in table.items()}
    assert {figure.metric for figure in table.values()} == {metric}
    assert text.index(phrase) < text.index("## Commands")
