"""Scores of the recipes and of the quickstart in tables are those of their records."""

import re
from typing import Any

import pytest
from figures.pages import RESULTS, record, row, table, text

LONGER = "docs/results/quickstart_longer/README.md"


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
