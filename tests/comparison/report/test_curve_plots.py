"""Training curves read back as XML: every cell, the unigram line to scale, a stuck model above it."""

import math

from grids.sample_results import FAMILIES, CurvePoint, ResultRow, Results, change_cells, change_rows, sample
from msgspec.structs import replace
from test_plots import marks, title
from test_side_labels import collisions

from realformer_nmt.comparison.report import curve_plots
from realformer_nmt.figures.drawing import Drawing


def deep(results: Results) -> Drawing:
    return curve_plots.training(results)[1]


def is_deep_admin(row: ResultRow) -> bool:
    return (row.family, row.depth) == ("admin", "18")


def names(drawing: Drawing) -> list[str]:
    return [text.get_text() for text in drawing.figure.axes[0].texts]


def curve(drawing: Drawing, number: int) -> list[float]:
    """Return a curve as matplotlib holds it; the cells' come first."""
    return list(map(float, drawing.figure.axes[0].lines[number].get_ydata()))


def test_one_plot_a_depth_with_every_cell() -> None:
    results = sample(seeds=2)
    drawings = curve_plots.training(results)
    assert [drawing.label for drawing in drawings] == ["training loss, 6 layers", "training loss, 18 layers"]
    for drawing, depth in zip(drawings, ("6", "18"), strict=True):
        cell_names = [title(mark).split(":")[0] for mark in marks(drawing, "learning")]
        assert cell_names == [cell.name for cell in results.cells if cell.depth == depth]
    assert len({tuple(drawing.figure.axes[0].get_ylim()) for drawing in drawings}) == 1  # to one scale


def test_the_stuck_model_is_named_and_lies_on_the_unigram_line() -> None:
    drawing = deep(sample(seeds=1))
    assert names(drawing) == ["post_ln stuck", *FAMILIES[1:], "unigrams"]
    (line,) = marks(drawing, "unigrams")
    assert title(line) == "unigrams: 5.90 bits"
    entropy = 5.9
    assert [curve(drawing, number)[-1] > entropy - 0.5 for number in range(5)] == [True, False, False, False, False]
    assert drawing.figure.axes[0].get_ylim()[0] < entropy < drawing.figure.axes[0].get_ylim()[1]


def test_what_is_no_number_is_a_gap() -> None:
    points = [CurvePoint(update=n, nll_loss=value) for n, value in enumerate([5.0, math.nan, None, 4.0, math.inf], 1)]
    points.append(CurvePoint(update=6))
    updates, bits = curve_plots.loss_curve(points)
    assert updates == [1, 2, 3, 4, 5, 6]
    assert [value if math.isfinite(value) else None for value in bits] == [5.0, None, None, 4.0, None, None]


def test_a_training_that_flies_off_does_not_press_the_others_down() -> None:
    results = sample(seeds=1)
    change_cells(results, lambda cell: cell.name == "admin-18-s1", state="diverged")
    change_rows(results, is_deep_admin, states=["diverged"], failed=1, seeds=0)
    curve = next(cell.curves.train for cell in results.cells if cell.name == "admin-18-s1")
    curve[20:] = [replace(point, nll_loss=1e6 if point.update < 300 else math.nan) for point in curve[20:]]
    drawing = deep(results)
    assert drawing.figure.axes[0].get_ylim()[1] < 2.2 * 5.9
    assert "admin diverged" in names(drawing)
    assert collisions(drawing) == []
