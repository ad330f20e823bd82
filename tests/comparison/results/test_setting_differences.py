"""A note below a table tells which cells were not trained, or made, as the others."""

from typing import Any

from grids.sample_results import CellResult, make_cell, sample
from msgspec.structs import replace

from realformer_nmt.comparison.report import notes
from realformer_nmt.comparison.results import setting_differences


def cell(name: str, family: str = "pre_ln", versions: dict[str, str] | None = None, **settings: Any) -> CellResult:
    all_settings = {"encoder_layers": 6, "seed": 1, "dropout": 0.1, "residual_topology": "pre", **settings}
    like = make_cell(family, "6", [6, 6], 1, "done")
    return replace(like, name=name, settings=all_settings, versions=versions or {"torch": "2.11.0"})


def test_family_depth_and_seed_are_no_difference() -> None:
    cells = [cell("a"), cell("b", seed=2), cell("c", encoder_layers=18), cell("d", "post_ln", residual_topology="post")]
    assert setting_differences.settings(cells) == []
    assert setting_differences.versions(cells) == []


def test_what_differs_is_reported_with_its_cells_and_with_what_the_others_have() -> None:
    cells = [cell("a"), cell("b", decoding={"beam": 5}), cell("c", dropout=0.4), cell("d", decoding={"beam": 5})]
    assert setting_differences.settings(cells) == ["dropout 0.4: c (the others: 0.1)"]  # a and c were not decoded
    cells.append(cell("e", decoding={"beam": 4}))
    assert setting_differences.settings(cells)[1:] == ["decoding.beam 4: e (the others: 5)"]
    assert setting_differences.settings([cell("a"), cell("b", residual_topology="post")]) == [
        "residual_topology post: b (the others: pre)"
    ]
    cells = [cell("a"), cell("b"), cell("c", versions={"torch": "2.10.0"})]
    assert setting_differences.versions(cells) == ["torch 2.10.0: c (the others: 2.11.0)"]


def test_the_note_below_the_table_says_each() -> None:
    results = replace(
        sample(),
        overrides=["dropout 0.4: a (the others: 0.1)"],
        versions_apart=["torch 2.10.0: a (the others: 2.11.0)"],
        cells=[replace(cell("a"), differences=["train: seed was 1, is now \x1b[2J"])],
    )
    note = "\n".join(notes.notes(results))
    assert "With settings of their own: dropout 0.4: a (the others: 0.1)." in note
    assert "Of another version: torch 2.10.0: a (the others: 2.11.0)." in note
    assert "Made otherwise than the grid asks for now: a (train: seed was 1, is now " in note
    assert "\x1b" not in note
    assert "Of another version" not in "".join(notes.notes(sample()))
