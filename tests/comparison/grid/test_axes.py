"""Axes of a grid: which settings they become, what is refused, and what the report draws and says of them."""

import csv
import io
from pathlib import Path

import pytest
from grids.sample_results import CellScore, Results, make_cell, rows, sample
from msgspec.structs import replace

from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.grid.cell import folder_of
from realformer_nmt.comparison.grid.grid import Grid, load
from realformer_nmt.comparison.report import axis_plots, tables
from realformer_nmt.comparison.results import setting_differences

PLAIN = 'families = ["pre_ln", "admin"]\nlayers = ["6"]\nprotocol = "small"\n'
BOTH = PLAIN + "[axes]\nlr = [1e-3, 2e-3]\nupdates = [500, 1000, 2000]\n"
REFUSED = {
    "[axes]\nlrs = [1.0]": "axes: lrs is not one of lr, warmup, dropout, width, epochs, updates, data; did you mean",
    "[axes]\nlr = [1, 1.0]": "a value is named twice",
    "[axes]\nupdates = [1.5]": "axes: updates 1.5: allowed is a whole number above 0",
    "[axes]\nupdates = [5]\nepochs = [2]": "epochs and updates both say how long a training is",
    "[axes]\ndata = [0.5]\n[data]\nfolder = 'd'\nsubwords = 'none'\nreference = 'r'": "data is an axis of this grid",
    "[axes]\nwidth = [64]\n[train]\ndecoder-embed-dim = 32": "[train] sets decoder-embed-dim too",
    "[axes]\nupdates = [5]\n[budget]\nepochs = 2": "updates is an axis of this grid, and [budget] sets epochs too",
    "tune = ['lr']\nseeds = [1, 2]\ntune_seeds = [3]\n[axes]\nlr = [1.0]": "tune_seeds: [3]: allowed are some of",
    "tune = ['lr']": "tune: lr is no axis of this grid; its axes are none",
}


def read(folder: Path, text: str) -> Grid:
    (folder / "grid.toml").write_text(text)
    return load(folder / "grid.toml")


@pytest.mark.parametrize(("more", "message"), REFUSED.items())
def test_a_wrong_axis_is_refused(more: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        read(tmp_path, PLAIN + more)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_cells_are_the_product_and_their_folders_carry_the_values(tmp_path: Path) -> None:
    names = [folder_of(cell, tmp_path).name for cell in read(tmp_path, BOTH).cells()]
    assert len(names) == len(set(names)) == 2 * 2 * 3
    assert "admin-6-lr0.002-updates500-s1" in names
    assert [folder_of(cell, tmp_path).name for cell in read(tmp_path, PLAIN).cells()] == ["pre_ln-6-s1", "admin-6-s1"]


@pytest.mark.parametrize(
    ("name", "value", "train", "budget"),
    [
        ("lr", 0.01, {"lr": 0.01}, {}),
        ("warmup", 0, {"warmup-updates": 0}, {}),
        ("updates", 300, {}, {"updates": 300}),
        (
            *("width", 96),
            {
                "encoder-embed-dim": 96,
                "decoder-embed-dim": 96,
                "encoder-ffn-embed-dim": 384,
                "decoder-ffn-embed-dim": 384,
            },
            {},
        ),
    ],
)
def test_what_an_axis_sets(name: str, value: float, train: dict, budget: dict, tmp_path: Path) -> None:
    grid = read(tmp_path, PLAIN + f"[axes]\n{name} = [{value}]\n[train]\nclip-norm = 1\n[budget]\naverage = 1")
    (cell, _) = grid.cells()
    assert grid.options("train", cell) == {"clip-norm": 1, **train}
    assert grid.options("budget", cell) == {"average": 1, **budget}


def test_an_override_names_values_of_axes(tmp_path: Path) -> None:
    grid = read(tmp_path, BOTH + "[[override]]\naxes = {updates = 500}\n[override.train]\nwarmup-updates = 50")
    warm = {cell.point: grid.options("train", cell).get("warmup-updates") for cell in grid.cells()}
    assert {dict(point)["updates"]: value for point, value in warm.items()} == {500: 50, 1000: None, 2000: None}


def test_what_an_axis_changes_is_no_setting_of_a_cells_own() -> None:
    settings_by_lr = {lr: {"lr": [lr], "dropout": dropout} for lr, dropout in ((0.1, 0.0), (0.2, 0.0), (0.3, 0.5))}
    cells = [
        replace(make_cell("admin", "6", [6, 6], 1, "done"), name=f"admin-6-lr{lr}-s1", settings=settings)
        for lr, settings in settings_by_lr.items()
    ]
    assert setting_differences.settings(cells, ["lr"]) == ["dropout 0.5: admin-6-lr0.3-s1 (the others: 0.0)"]
    assert len(setting_differences.settings(cells)) == 3


LRS, UPDATES, SEEDS = (0.001, 0.002), (500, 1000, 2000), (1, 2)


def gridded() -> Results:
    """Two families, and a stuck one, on a grid of learning rates and budgets; scores grow with both."""
    cells = []
    for family in ("pre_ln", "admin", "post_ln"):
        for lr in LRS:
            for updates in UPDATES:
                for seed in SEEDS:
                    stuck = (family, lr) == ("post_ln", 0.002)
                    cell = make_cell(family, "6", [6, 6], seed, "stuck" if stuck else "done")
                    name = f"{family}-6-lr{lr}-updates{updates}-s{seed}"
                    score = CellScore(score=40 + 1000 * lr + updates / 100 + seed + len(family), interval=1.0)
                    scores, point = {**cell.scores, "bleu": score}, {"lr": lr, "updates": updates}
                    cells.append(replace(cell, name=name, axes=point, scores=scores))
    return replace(sample(), axes=["lr", "updates"], cells=cells, rows=rows(cells), examples=[])


def test_a_drawing_an_axis_and_a_panel_for_each_place_on_the_other() -> None:
    drawings = axis_plots.against_axes(gridded())
    assert set(drawings) == {"lr", "updates"}
    assert [len(drawings[name].figure.axes) for name in ("lr", "updates")] == [len(UPDATES), len(LRS)]
    titles = [panel.get_title(loc="left") for panel in drawings["updates"].figure.axes]
    assert titles == ["lr 0.001", "lr 0.002"]


def test_the_lowest_panel_of_each_column_names_the_values() -> None:
    results = gridded()
    further = [replace(row, axes={**row.axes, "lr": lr}) for lr in (0.003, 0.004) for row in results.rows[:3]]
    axes = axis_plots.against(replace(results, rows=[*results.rows, *further]), "updates").figure.axes
    labels = [[tick.label1.get_visible() for tick in panel.xaxis.get_major_ticks()] for panel in axes[:4]]
    assert labels == [[False] * 3, [True] * 3, [True] * 3, [True] * 3]


def test_a_line_is_the_means_of_a_family_and_a_failure_stands_on_the_ground() -> None:
    results = gridded()
    panel = axis_plots.against(results, "updates").figure.axes[1]
    lines = {line.get_label(): list(line.get_ydata()) for line in panel.lines}
    means = [40 + 2 + updates / 100 + 1.5 + len("admin") for updates in UPDATES]
    assert lines["admin"] == pytest.approx(means)
    assert [tick.get_text() for tick in panel.get_xticklabels()] == ["500", "1000", "2000"]
    assert sum(line.get_marker() == "x" for line in panel.lines) == len(UPDATES)  # post_ln with this learning rate


def test_the_table_has_a_column_an_axis() -> None:
    results = gridded()
    lines = list(csv.DictReader(io.StringIO(tables.spreadsheet(results))))
    assert len(lines) == 3 * len(LRS) * len(UPDATES)
    assert {(line["lr"], line["updates"]) for line in lines} == {(str(lr), str(u)) for lr in LRS for u in UPDATES}
    assert "learning rate" in tables.markdown(results).splitlines()[0]
    assert "of the same depth, learning rate and updates." in tables.markdown(results)
