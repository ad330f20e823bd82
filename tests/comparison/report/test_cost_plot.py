"""The plot of quality against cost: a point a row of the table, with its spread, named, no name over another."""

import re
import statistics

import pytest
from grids.sample_results import CellResult, CellScore, Results, empty, sample
from msgspec.structs import replace
from test_plots import marks, points, title
from test_side_labels import collisions, words

from realformer_nmt.comparison.report.cost_plot import cost
from realformer_nmt.figures.drawing import Drawing


def drawn(results: Results) -> Drawing:
    drawing = cost(results)
    assert drawing
    return drawing


def costing(cell: CellResult, hours: float | None, bleu: float) -> CellResult:
    return replace(cell, hours=hours, scores={**cell.scores, "bleu": CellScore(score=bleu)})


def names(drawing: Drawing) -> list[str]:
    return [text.get_text() for text in drawing.figure.axes[0].texts]


def test_seeds_are_one_point_with_spread() -> None:
    results = sample()
    drawing = drawn(results)
    titles = {title(mark) for mark in marks(drawing, "cost")}
    done = [row for row in results.rows if row.seeds]
    assert titles == {f"{row.family}, {row.depth} layers: {row.scores['bleu'].mean:.2f}" for row in done}
    assert len(marks(drawing, "cost-deviation")) == 2 * len(done) == 18  # of quality, of time
    assert marks(drawn(sample(seeds=1)), "cost-deviation") == []


def test_points_stand_at_the_means() -> None:
    results = sample()
    drawing = drawn(results)
    cells = [cell for cell in results.cells if (cell.family, cell.depth) == ("admin", "18")]
    expected = (
        60 * statistics.mean(cell.hours for cell in cells),
        statistics.mean(cell.scores["bleu"].score for cell in cells),
    )
    lines = [line for line in drawing.figure.axes[0].lines if line.get_linestyle() == "None"]
    assert any((line.get_xdata()[0], line.get_ydata()[0]) == pytest.approx(expected) for line in lines)


def test_no_name_lies_on_another_though_all_points_do() -> None:
    results = sample({str(n): [n, n] for n in (1, 6, 12, 18, 24, 36)}, seeds=1, fails=("", ""))
    results.cells[:] = [costing(cell, 1.0, 20.0) for cell in results.cells]
    drawing = drawn(results)
    assert len(names(drawing)) == 30
    assert collisions(drawing) == []
    boxes, figure = words(drawing)
    assert all(figure.x0 <= box.x0 < box.x1 <= figure.x1 + 1 for box in boxes)


def test_hours_or_minutes_on_a_scale_that_shows_all() -> None:
    assert "minutes a training" in drawn(sample()).page_svg("p")
    slow = sample()
    slow.cells[:] = [replace(cell, hours=0.5 * (number + 1) ** 2) for number, cell in enumerate(slow.cells)]
    drawing = drawn(slow)
    assert "hours a training" in drawing.page_svg("p")
    assert not re.search(r"mathdefault|\$", drawing.page_svg("p"))
    assert collisions(drawing) == []
    assert len([point for mark in marks(drawing, "cost") for point in points(mark)]) == 9


def test_before_any_score_there_is_no_plot() -> None:
    assert cost(empty()) is None
