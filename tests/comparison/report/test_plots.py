"""Drawings read back as XML: as many marks as data, in their places."""

import math
import re

import pytest
from grids.sample_results import FAMILIES, CellCurves, MeanScore, Results, change_rows, changed, sample
from lxml import etree
from msgspec.structs import replace

from realformer_nmt.comparison.report import axis_plots, cell_plots, plots
from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.figures.drawing import COLOURS, MARKERS, Drawing, looks


def marks(drawing: Drawing | None, kind: str) -> list[etree._Element]:
    assert drawing
    root = etree.fromstring(drawing.page_svg("p"))
    return root.xpath(f"//*[local-name()='g'][@class='{kind}']")


def title(mark: etree._Element) -> str:
    return mark[0].text or ""


def points(mark: etree._Element) -> list[tuple[float, float]]:
    return [(float(use.get("x")), float(use.get("y"))) for use in mark.xpath(".//*[local-name()='use']")]


def cell(results: Results, name: str) -> CellResult:
    return next(cell for cell in results.cells if cell.name == name)


def test_no_two_of_many_families_look_alike() -> None:
    number = math.lcm(len(COLOURS), len(MARKERS))
    assert len(set(looks([str(place) for place in range(number)]).values())) == number >= 50


def test_a_line_a_family_a_mark_a_depth() -> None:
    results = sample()
    lines = marks(plots.by_depth(results), "family")
    assert [title(line).split(":")[0] for line in lines] == list(FAMILIES)
    assert [len(points(line)) for line in lines] == [1, 2, 2, 2, 2]  # post_ln is stuck at 18
    heights = [(row.scores["bleu"].mean, row.family) for row in results.rows if row.depth == "6"]
    drawn = [(-points(line)[0][1], family) for line, family in zip(lines, FAMILIES, strict=True)]
    assert [family for _, family in sorted(drawn)] == [family for _, family in sorted(heights)]
    shallow, deep = (row.scores["bleu"] for row in results.rows if row.family == "pre_ln")
    figures = [f"{score.mean:.2f} ± {score.deviation:.2f}" for score in (shallow, deep)]
    assert title(lines[1]) == f"pre_ln: 6 layers {figures[0]}; 18 layers {figures[1]}"


def test_deviations_are_drawn_to_scale() -> None:
    results = sample()
    drawing = plots.by_depth(results)
    bars = marks(drawing, "deviation")
    assert len(bars) == 9
    lines = dict(zip(FAMILIES, marks(drawing, "family"), strict=True))
    (_, low), (_, high) = points(lines["pre_ln"])
    mean = {(row.family, row.depth): row.scores.get("bleu") for row in results.rows}
    pixels = (low - high) / (mean["pre_ln", "18"].mean - mean["pre_ln", "6"].mean)
    for bar in bars:
        family, deviation = title(bar).split(":")[0], float(title(bar).split("±")[1])
        (x, bottom), (_, top) = points(bar)
        assert (bottom - top) / 2 == pytest.approx(deviation * pixels, abs=0.01 * pixels)
        assert any(x == pytest.approx(place, abs=0.02) for place, _ in points(lines[family]))
    assert marks(plots.by_depth(sample(seeds=1)), "deviation") == []


def test_what_failed_is_named_below() -> None:
    results = sample({"6": [6, 6], "18": [18, 18], "60-12": [60, 12]})
    changes = {"states": ["done", "diverged", "done"], "seeds": 2, "failed": 1}
    change_rows(results, lambda row: (row.family, row.depth) == ("admin", "60-12"), **changes)
    drawing = plots.by_depth(results)
    crosses = marks(drawing, "failed")
    assert [title(cross) for cross in crosses] == ["post_ln stuck", "admin diverged, 1 of 3"]
    text = re.findall(r"<text[^>]*>([^<]*)<", drawing.page_svg("p"))
    assert {"post_ln stuck", "admin diverged, 1 of 3", "6", "18", "60-12"} <= set(text)
    lowest = max(y for line in marks(drawing, "family") for _, y in points(line))
    assert all(points(cross)[0][1] > lowest for cross in crosses)


def test_no_line_leads_over_a_failure() -> None:
    results = sample({"6": [6, 6], "18": [18, 18], "60-12": [60, 12]})
    stuck, whole = (marks(plots.by_depth(results), "family")[place][1].get("d", "") for place in (0, 1))
    assert (stuck.count("L"), whole.count("L")) == (0, 2)


def test_the_marks_of_many_families_stay_in_their_category() -> None:
    results = sample()
    results.rows[:] = [replace(row, family=f"{row.family}{n}") for n in range(8) for row in results.rows]
    for drawing in (plots.by_depth(results), axis_plots.against(results, axis_plots.DEPTH)):
        lines = [
            list(map(float, line.get_xdata())) for line in drawing.figure.axes[0].lines if line.get_marker() != "x"
        ]
        assert len([xs for xs in lines if xs[0] != xs[-1]]) == 8 * len(FAMILIES)
        assert all(abs(x - round(x)) < 0.4 for xs in lines for x in xs)


def test_published_figures_stand_only_where_metric_and_depth_agree() -> None:
    drawn = [title(mark) for mark in marks(plots.by_depth(sample()), "published")]
    assert drawn == ["He et al. 2021, Pre-LN: 64.00", "He et al. 2021, RealFormer: 70.20"]
    assert marks(plots.by_depth(replace(sample(), metric="chrf")), "published") == []


def test_a_correlation_below_0_is_drawn_with_its_deviation() -> None:
    results = sample()
    scored = [row for row in results.rows if row.scores]
    for row, mean in zip(scored, [-40.0, *[3.0] * 8], strict=True):
        row.scores["bleu"] = MeanScore(mean=mean, deviation=4.0)
    for drawing in (plots.by_depth(results), axis_plots.against(results, axis_plots.DEPTH)):
        axes = drawing.figure.axes[0]
        heights = [list(map(float, line.get_ydata())) for line in axes.lines]
        assert ([-44.0, -36.0] in heights, heights.count([-1.0, 7.0])) == (True, 8)
        assert axes.get_ylim()[0] < -44


def test_the_curves_of_a_cell() -> None:
    results = sample()
    loss, quality, gradient, shortcuts = cell_plots.drawings(cell(results, "realformer-18-s1"))
    for drawing in (loss, shortcuts):  # each curve is named beside the axes, not over the curves
        (axes,) = drawing.figure.axes
        assert axes.get_legend() is None
        assert all(text.get_position()[0] > 1 for text in axes.texts)
    assert [title(mark).split(":")[0] for mark in marks(loss, "curve")] == ["training", "validation"]
    assert "unigrams" in loss.page_svg("p")
    assert [len(points(marks(quality, "curve")[0])), len(marks(gradient, "curve"))] == [8, 1]
    lines = {title(mark): points(mark) for mark in marks(shortcuts, "shortcut")}
    kinds = {"encoder self_attn", "encoder ffn", "decoder self_attn", "decoder encoder_attn", "decoder ffn"}
    assert set(lines) == kinds
    assert all(len(line) == 18 for line in lines.values())
    assert all(line[0][1] > line[-1][1] for line in lines.values())  # w grows, and y points down
    assert len(cell_plots.drawings(cell(results, "pre_ln-18-s1"))) == 3


def test_a_loss_that_is_no_number_is_a_gap() -> None:
    diverged = cell(sample(), "pre_ln-6-s1")
    curve = diverged.curves.train
    values = zip(curve[20:], [math.nan, None, math.inf] * 7, strict=False)
    curve[20:] = [replace(point, nll_loss=value, gnorm=value) for point, value in values]
    loss, _, gradient = cell_plots.drawings(diverged)
    for drawing in (loss, gradient):
        assert "at update 200" in title(marks(drawing, "curve")[0])
    diverged = replace(diverged, curves=CellCurves(train=curve[19:]))
    assert [len(points(marks(drawing, "curve")[0])) for drawing in cell_plots.drawings(diverged)] == [1, 1]
    diverged = replace(diverged, curves=CellCurves(train=curve[20:]))
    assert cell_plots.drawings(diverged) == []


def test_text_is_text_and_takes_the_colours_of_the_page() -> None:
    root = etree.fromstring(plots.by_depth(sample()).page_svg("p"))
    texts = root.xpath("//*[local-name()='text']")
    assert {text.get("fill") for text in texts} == {"currentColor"}
    assert "sacreBLEU" in [text.text for text in texts]
    assert root.xpath("//@style") == []
    assert root.xpath("//*[local-name()='style']") == []


def test_ids_of_two_drawings_differ_and_all_references_lead_somewhere() -> None:
    drawing = plots.by_depth(sample())
    first, second = (etree.fromstring(drawing.page_svg(prefix)) for prefix in ("a-", "b-"))
    assert not set(first.xpath("//@id")) & set(second.xpath("//@id"))
    for root in (first, second):
        references = {name[1:] for name in root.xpath("//@href")}
        references |= {name.removeprefix("url(#").removesuffix(")") for name in root.xpath("//@clip-path")}
        assert references == references & set(root.xpath("//@id"))
        assert len(root.xpath("//@id")) == len(set(root.xpath("//@id")))


def test_names_are_text_whatever_they_hold() -> None:
    """$...$ would be mathematics, \\x00 no XML."""
    results = changed(sample(), lambda text: f"{text}$x_$</text><script>\x00")
    root = etree.fromstring(plots.by_depth(results).page_svg("p"))
    assert root.xpath("//*[local-name()='script']") == []
    assert "pre_ln$x_$</text><script>\\x00" in root.xpath("//*[local-name()='text']/text()")
