"""Violins read back from the drawing's XML."""

import re

import torch
from lxml import etree

from realformer_nmt.analysis.figures import violins
from realformer_nmt.analysis.measures.histogram import Distribution


def layer(*medians: float) -> Distribution:
    distribution = Distribution(len(medians), 12.0)
    spread = torch.linspace(-0.4, 0.4, 101)
    distribution.add(torch.stack([median + spread for median in medians]))
    return distribution


def test_one_for_every_head_in_the_order_of_medians_with_its_band() -> None:
    models = {"a": [layer(5.0, 1.0), layer(2.0, 3.0)], "b": [layer(0.5, 6.0)]}
    root = etree.fromstring(violins.draw("entropy", violins.ENTROPY, models).page_svg("p").encode())
    marks = root.xpath("//*[local-name()='g'][@class='violin']")
    titles = [re.fullmatch(r"(\w, layer \d, head \d): median (.*)", mark[0].text).groups() for mark in marks]
    medians = {name: float(median) for name, median in titles}
    assert medians.keys() == {f"a, layer {n}, head {h}" for n in (1, 2) for h in (1, 2)} | {
        f"b, layer 1, head {h}" for h in (1, 2)
    }
    assert abs(medians["a, layer 1, head 1"] - 5.0) < 0.02
    names = [name for name, _ in titles if name.startswith("a, layer 1")]
    assert names == ["a, layer 1, head 2", "a, layer 1, head 1"]
    colours = {
        name: mark.xpath(".//*[local-name()='path' or local-name()='use']/@fill")[0]
        for (name, _), mark in zip(titles, marks, strict=True)
    }
    assert colours["a, layer 1, head 2"] == violins.LOW
    assert colours["a, layer 2, head 1"] == violins.MIDDLE
    assert colours["a, layer 1, head 1"] == violins.HIGH
