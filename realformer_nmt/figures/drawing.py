"""matplotlib figures as SVG that a page can theme: text stays text, ink is the page's text colour."""

import io
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from lxml import etree
from matplotlib import style
from matplotlib.artist import Artist
from matplotlib.axes import Axes as Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.lines import Line2D as Line2D
from matplotlib.ticker import LogLocator, NullLocator
from matplotlib.ticker import MaxNLocator as MaxNLocator

from realformer_nmt.common.terminal import printable

INK = "#010203"  # drawn as black, written as currentColor
FAINT = 0.45  # opacity of secondary elements
# Distinct for the colour-blind (deutan, protan), with contrast 3:1 or more on the page's panels, light and dark.
COLOURS = ("#2369e7", "#d97a05", "#50a163", "#b7249a", "#c8282a", "#3299e3", "#cc759e")
MARKERS = ("o", "s", "^", "D", "v", "P", "*", "h")  # one more than colours, so that pairs do not repeat soon
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "realformer_nmt",  # the same figures, the same bytes
    "text.parse_math": False,  # a $ in a name is a $
    "font.size": 9.0,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titley": 1.0,  # fixed, as no tick is above: the search for it is slow
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "grid.color": INK,
    "grid.alpha": 0.12,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 3,
    "ytick.major.size": 0,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.5,
}
SAMPLE, LETTER, LINE = 0.5, 0.075, 0.17  # inches that a legend's entry needs: its line, each letter, its height
THEME = "svg{color:#1d232c}@media(prefers-color-scheme:dark){svg{color:#dde2ea}}"
NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"


class Look(NamedTuple):
    colour: str
    marker: str


def looks(names: Sequence[str]) -> dict[str, Look]:
    """Return the look of each family, the same in every plot of a report."""
    return {
        name: Look(COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]) for index, name in enumerate(names)
    }


def plain(axis: Axis) -> None:
    """Label a logarithmic axis with 1, 2, 5, 10 instead of powers."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter("{x:g}")


@contextmanager
def styled() -> Iterator[None]:
    """Draw with matplotlib's defaults and STYLE, whatever settings the calling program has."""
    with style.context(["default", STYLE]):
        yield


class Drawing:
    """One figure, whose marked artists have tooltips for readers and can be counted by tests.

    Fixed margins take half the time of margins that matplotlib fits.
    """

    def __init__(self, label: str, width: float, height: float, margins: dict[str, float] | None = None) -> None:
        self.label = label
        self.figure = Figure(figsize=(width, height), layout="constrained" if margins is None else None)
        if margins:
            self.figure.subplots_adjust(**margins)
        self._marks: dict[str, tuple[str, str]] = {}  # class and tooltip of the SVG's group, by its id

    def mark(self, artist: Artist, kind: str, title: str) -> None:
        name = f"mark-{len(self._marks)}"
        artist.set_gid(name)
        self._marks[name] = kind, printable(title)

    def legend(self, *panels: Axes) -> None:
        """Add a legend of all panels above them, in as many columns as fit; the figure grows by its lines."""
        by_label: dict[str, Artist] = {}
        for axes in panels:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                by_label.setdefault(label, handle)
        labels, handles = list(by_label), list(by_label.values())
        width, height = self.figure.get_size_inches()
        columns = max(1, min(3, int(width / (SAMPLE + LETTER * max(map(len, labels), default=0)))))
        self.figure.set_size_inches(width, height + LINE * math.ceil(len(labels) / columns))
        self.figure.legend(handles, labels, loc="outside upper left", ncols=columns, handlelength=1.8)

    @styled()
    def png(self) -> bytes:
        stream = io.BytesIO()
        self.figure.savefig(stream, format="png", dpi=200, facecolor="white", metadata={"Software": None})
        return stream.getvalue()

    def page_svg(self, prefix: str) -> str:
        """Return the SVG for a page of several figures; the prefix makes its ids unique."""
        return str(etree.tostring(self._tree(prefix), encoding="unicode"))

    def file_svg(self) -> str:
        root = self._tree("")
        root.set("font-family", "system-ui, sans-serif")
        theme = etree.Element(f"{SVG}style")
        theme.text = THEME
        root.insert(0, theme)
        return str(etree.tostring(root, encoding="unicode"))

    @styled()
    def _tree(self, prefix: str) -> etree._Element:
        stream = io.BytesIO()
        write: Callable[..., None] = FigureCanvasSVG(self.figure).print_svg
        write(stream, metadata=NO_METADATA)
        root = etree.fromstring(stream.getvalue())
        for rules in list(root.iter(f"{SVG}style")):
            rules.getparent().remove(rules)
        for element in root.iter():
            _spell_out(element)
            _rename(element, prefix)
            self._name(element)
        etree.cleanup_namespaces(root)
        _head(root, self.label)
        return root

    def _name(self, element: etree._Element) -> None:
        """Turn a mark's id into its class and tooltip, and remove matplotlib's other ids of groups."""
        if element.tag != f"{SVG}g":
            return
        kind, text = self._marks.get(element.attrib.pop("id", ""), ("", ""))
        if kind:
            element.set("class", kind)
            title = etree.Element(f"{SVG}title")
            title.text = text
            element.insert(0, title)


def _spell_out(element: etree._Element) -> None:
    """Turn style="fill: red" into fill="red", as a strict Content-Security-Policy allows no style attributes."""
    for declaration in filter(None, element.attrib.pop("style", "").split(";")):
        name, value = (part.strip() for part in declaration.split(":", 1))
        if name == "font":  # older matplotlib: size and families in one
            name, value = "font-size", value.split()[0]
        if name != "font-family":  # the page sets the family
            element.set(name, "currentColor" if value == INK else value)
    for name in ("d", "x", "y"):
        if name in element.attrib:
            element.set(name, re.sub(r"(\.\d\d)\d+", r"\1", element.get(name, "")).replace("\n", ""))


def _rename(element: etree._Element, prefix: str) -> None:
    if "id" in element.attrib and element.tag != f"{SVG}g":
        element.set("id", prefix + element.get("id", ""))
    if HREF in element.attrib:
        element.set("href", element.attrib.pop(HREF).replace("#", f"#{prefix}"))
    if "clip-path" in element.attrib:
        element.set("clip-path", element.get("clip-path", "").replace("#", f"#{prefix}"))


def _head(root: etree._Element, label: str) -> None:
    _, _, width, height = root.get("viewBox", "").split()
    attributes = {"class": "plot", "role": "img", "aria-label": printable(label), "width": width, "height": height}
    for name, value in {**attributes, "stroke-linejoin": "round", "stroke-linecap": "butt"}.items():
        root.set(name, value)
