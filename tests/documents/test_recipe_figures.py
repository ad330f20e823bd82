"""Gains that the recipes tell in words, against the records."""

import json

from programs.program import REPOSITORY


def comparisons(record: str) -> dict[str, tuple[float, float]]:
    """Return each system's score and its difference from the baseline, of a record of `significance`."""
    content = json.loads((REPOSITORY / "docs" / "results" / f"{record}.json").read_text())
    return {row["system"]: (row["score"], row["difference"]) for row in content["comparisons"]}


def words(recipe: str) -> str:
    return " ".join((REPOSITORY / "recipes" / recipe / "README.md").read_text().split())


def test_what_fine_tuning_gained() -> None:
    same, own_vocabulary = (
        comparisons("fine_tuning/significance"),
        comparisons("fine_tuning/significance_own_vocabulary"),
    )
    after, gained = same["after.json"]
    assert f"raise its BLEU from {after - gained:.1f} to {after:.1f}; from random" in words("fine_tuning")
    assert f"they reach {same['alone.json'][0]:.1f}." in words("fine_tuning")
    carried, above = own_vocabulary["own_after.json"]
    assert carried < after - gained
    assert f"the model reaches {carried:.1f}, less than" in words("fine_tuning")
    assert f"from random weights {carried - above:.1f}." in words("fine_tuning")


def test_what_back_translation_gained() -> None:
    (gained,), (lost,) = (
        [difference for _, difference in comparisons(f"back_translation/significance_{pairs}").values()]
        for pairs in (1000, 4000)
    )
    assert f"it gains {gained:.1f} BLEU; with 4,000 it loses {-lost:.1f}," in words("back_translation")
