"""Figures are of the package's own style, whatever the current folder says."""

import matplotlib
import pytest

from realformer_nmt.figures.drawing import Drawing, styled


@styled()
def drawn() -> Drawing:
    drawing = Drawing("a figure", 3.0, 2.0, {"left": 0.2})
    axes = drawing.figure.subplots()
    axes.plot([1, 2], [3, 4], label="a_b $x$")
    axes.set_title("a_b $x$")
    return drawing


@pytest.mark.parametrize("settings", [{"text.usetex": True}, {"axes.titlesize": 30, "savefig.pad_inches": 2}])
def test_a_matplotlibrc_changes_nothing_and_starts_nothing(settings: dict[str, object]) -> None:
    """matplotlib takes one of the current folder, and starts latex where it says so."""
    plain = drawn()
    with matplotlib.rc_context(settings):
        other = drawn()
        assert other.file_svg() == plain.file_svg()
        assert other.png() == plain.png()
