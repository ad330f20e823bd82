"""Names beside a plot, measured as matplotlib will draw them: apart, whole, in the order of what they name."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.transforms import Bbox

from realformer_nmt.comparison.report.side_labels import Label, beside, spread_out
from realformer_nmt.figures.drawing import Drawing, looks

NAMES = ["admin 6", "synthesizer_factorised_dense 60-12 diverged, 1 of 3", "gq", "Türen Ångström 18"]


def words(drawing: Drawing) -> tuple[list[Bbox], Bbox]:
    """Return the boxes of the names beside the axes, and that of the figure."""
    renderer = FigureCanvasAgg(drawing.figure).get_renderer()
    (axes,) = drawing.figure.axes
    return [text.get_window_extent(renderer) for text in axes.texts], drawing.figure.bbox


def overlap(one: Bbox, other: Bbox) -> float:
    shared = Bbox.intersection(one, other)
    return shared.width * shared.height if shared else 0.0


def collisions(drawing: Drawing) -> list[tuple[int, int]]:
    boxes, _ = words(drawing)
    return [
        (one, other)
        for (one, first), (other, second) in itertools.combinations(enumerate(boxes), 2)
        if overlap(first, second) > 1
    ]


def drawn(heights: list[float], height: float = 2.0) -> Drawing:
    drawing = Drawing("labels", 4.0, height, {})
    axes = drawing.figure.subplots()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    look = looks(NAMES)
    labels = [Label(0.5, y, NAMES[n % 4], look[NAMES[n % 4]]) for n, y in enumerate(heights)]
    beside(drawing, axes, labels)
    return drawing


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(-0.5, 1.5), min_size=1, max_size=25))
def test_no_name_lies_on_another_or_leaves_the_figure(heights: list[float]) -> None:
    drawing = drawn(heights)
    assert collisions(drawing) == []
    boxes, figure = words(drawing)
    for box in boxes:
        assert figure.x0 <= box.x0
        assert box.x1 <= figure.x1 + 1
        assert figure.y0 <= box.y0
        assert box.y1 <= figure.y1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_they_are_in_order_and_apart(targets: list[float]) -> None:
    gap = 0.05
    places = spread_out(targets, gap)
    for (one, first), (other, second) in itertools.combinations(zip(targets, places, strict=True), 2):
        assert abs(first - second) >= gap - 1e-9
        assert one == other or (one < other) == (first < second)
    assert max(places) <= 1 + 1e-9
    assert min(places) >= min(0.0, 1 - gap * len(targets)) - 1e-9
