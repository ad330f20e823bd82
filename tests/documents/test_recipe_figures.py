"""Scores of the recipes and of the quickstart, in tables and in sentences, are those of their records."""

import re
from statistics import fmean, stdev
from typing import Any

import pytest
from figures.pages import RESULTS, record, row, says, table, text

LONGER = "docs/results/quickstart_longer/README.md"


def comparisons(name: str) -> dict[str, tuple[float, float]]:
    """Return each system's score and its baseline's, of a record of `significance`."""
    rows = record(name)["comparisons"]
    return {each["system"]: (each["score"], each["score"] - each["difference"]) for each in rows}


@pytest.mark.parametrize("recipe", ["fine_tuning", "back_translation", "distillation"])
def test_what_a_recipe_gained(recipe: str) -> None:
    """The table has each comparison's score and its baseline's."""
    files = (RESULTS / recipe).glob("significance*.json")
    pairs = [pair for file in files for pair in comparisons(f"{recipe}/{file.stem}").values()]
    shown = re.findall(r"\b\d+\.\d\d\b", "".join(table(f"docs/results/{recipe}/README.md")))
    assert set(shown) == {f"{score:.2f}" for pair in pairs for score in pair}


def test_what_fine_tuning_gained() -> None:
    same = comparisons("fine_tuning/significance")
    carried, scratch = comparisons("fine_tuning/significance_own_vocabulary")["own_after.json"]
    after, before = same["after.json"]
    says(
        "recipes/fine_tuning/README.md",
        f"raise its BLEU from {before:.1f} to {after:.1f}; from random",
        f"they reach {same['alone.json'][0]:.1f}.",
        f"the model reaches {carried:.1f}, less than",
        f"from random weights {scratch:.1f}.",
    )


def test_what_back_translation_gained() -> None:
    (gained,), (lost,) = (
        [score - baseline for score, baseline in comparisons(f"back_translation/significance_{pairs}").values()]
        for pairs in (1000, 4000)
    )
    says("recipes/back_translation/README.md", f"it gains {gained:.1f} BLEU; with 4,000 it loses {-lost:.1f},")


def test_the_quickstart() -> None:
    families = re.findall(r"`(\w+)`", re.findall(r"^\| sacreBLEU .*", text("README.md"), re.MULTILINE)[0])
    cells = {(each["depth"], each["family"]): each["scores"] for each in record("quickstart/results")["cells"]}
    scores = {key: f"{each['bleu']['score']:.1f}" if each else "failed" for key, each in cells.items()}
    lines = [row(f"{depth}L-{depth}L", *(scores[depth, family] for family in families)) for depth in ("6", "18")]
    assert [line.replace(", after twice the updates", "") for line in table("README.md", "| sacreBLEU")] == lines


def test_int8_of_exported_models() -> None:
    rows = [each["equal"] for each in record("exports")["rows"] if each["precision"] == "int8"]
    says("docs/exporting.md", f"ONNX give the same translation for {min(rows)} to {max(rows)} of them")


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


def test_what_the_seeds_of_the_longer_demo_had_before_and_have_now() -> None:
    rows = record("quickstart_longer/late_seed")["before"]["rows"]
    early, late = (
        [each["bleu"] for each in rows if (each["family"], each["updates"]) == ("realformer", updates)]
        for updates in (375, 1500)
    )
    now = [each for each in record("quickstart_longer/results")["rows"] if each["axes"]["updates"] == 1500]
    spread = max(each["scores"]["bleu"]["deviation"] for each in now)
    says(
        LONGER,
        f"({fmean(early):.1f} ± {stdev(early):.1f} after 375; {fmean(late):.2f} ± {stdev(late):.2f} after 1,500)",
        f"further apart than {spread:.1f} BLEU (deviation)",
    )
