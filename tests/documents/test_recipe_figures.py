"""Scores of the recipes and of the quickstart in tables are those of their records."""

import re
from typing import Any

import pytest
from figures.pages import RESULTS, record, row, table, text

from realformer_nmt.evaluation.scoring.published import figures

LONGER = "docs/results/quickstart_longer/README.md"
REALFORMER = "RealFormer (He et al. 2021) table 7"
NEWSTEST = "tokenised BLEU newstest2014"


@pytest.mark.parametrize("recipe", ["fine_tuning", "back_translation", "distillation"])
def test_what_a_recipe_gained(recipe: str) -> None:
    """The table has each comparison's score and its baseline's."""
    files = (RESULTS / recipe).glob("significance*.json")
    rows = [each for file in files for each in record(f"{recipe}/{file.stem}")["comparisons"]]
    shown = re.findall(r"\b\d+\.\d\d\b", "".join(table(f"docs/results/{recipe}/README.md")))
    assert set(shown) == {
        f"{score:.2f}" for each in rows for score in (each["score"], each["score"] - each["difference"])
    }


def test_the_quickstart() -> None:
    families = re.findall(r"`(\w+)`", re.findall(r"^\| sacreBLEU .*", text("README.md"), re.MULTILINE)[0])
    cells = {(each["depth"], each["family"]): each["scores"] for each in record("quickstart/results")["cells"]}
    scores = {key: f"{each['bleu']['score']:.1f}" if each else "failed" for key, each in cells.items()}
    lines = [row(f"{depth}L-{depth}L", *(scores[depth, family] for family in families)) for depth in ("6", "18")]
    assert [line.replace(", after twice the updates", "") for line in table("README.md", "| sacreBLEU")] == lines


def test_the_late_seed() -> None:
    losses: dict[tuple[float, float], dict[int, str]] = {}
    rows: list[dict[str, Any]] = record("quickstart_longer/late_seed")["rows"]
    for each in rows:
        place = each["warmup_init_lr"], each["clip_norm"]
        losses.setdefault(place, {})[each["seed"]] = f"{each['valid_loss']:.2f}"
    cells = record("quickstart_longer/results")["cells"]
    for cell in cells:
        if cell["family"] == "realformer" and cell["axes"]["updates"] == 750:
            losses.setdefault((1e-7, 0.0), {})[cell["seed"]] = f"{cell['scores']['valid_loss']['score']:.2f}"
    lines = [
        row(f"{rate:.0e}".replace("e-0", "e-"), norm or "no", *(of.get(seed, "") for seed in (1, 2, 3)))
        for (rate, norm), of in losses.items()
    ]
    assert sorted(table(LONGER, "## Why a seed")) == sorted(lines)


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
