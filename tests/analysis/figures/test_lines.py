"""Lines read back from the drawing's XML."""

from lxml import etree

from realformer_nmt.analysis.figures import lines
from realformer_nmt.analysis.figures.lines import Line


def test_a_line_a_model_in_every_panel_and_a_model_has_one_colour() -> None:
    panels = {
        "norm": [Line("a", [1.0, 10.0]), Line("a", [2.0, 3.0], note="at the start"), Line("b", [4.0, 5.0, 6.0])],
        "share": [Line("b", [0.5, 0.25, 0.125])],
    }
    root = etree.fromstring(lines.draw("gradients", panels, logarithmic=True).page_svg("p").encode())
    marks = root.xpath("//*[local-name()='g'][@class='line']")
    assert [mark[0].text for mark in marks] == [
        "norm, a: 1, 10",
        "norm, a at the start: 2, 3",
        "norm, b: 4, 5, 6",
        "share, b: 0.5, 0.25, 0.125",
    ]
    strokes = [mark.xpath("./*[local-name()='path']")[0] for mark in marks]
    colours = [stroke.get("stroke") for stroke in strokes]
    assert colours[0] == colours[1] != colours[2] == colours[3]
    assert [stroke.get("stroke-dasharray") is not None for stroke in strokes] == [False, True, False, False]
    places = [float(use.get("x")) for use in marks[2].xpath(".//*[local-name()='use']")]
    assert places == sorted(places)
    assert len(places) == 3


def test_the_legend_names_a_model_that_only_a_later_panel_shows() -> None:
    drawing = lines.draw("norm", {"encoder": [Line("a", [1.0])], "decoder": [Line("a", [2.0]), Line("b", [3.0])]})
    (legend,) = drawing.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b"]
