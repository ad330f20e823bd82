"""Pictures read back from the drawing's XML."""

import torch
from lxml import etree

from realformer_nmt.analysis.figures import matrices
from realformer_nmt.analysis.sentence import SentenceAttention
from realformer_nmt.figures.drawing import Drawing


def read(drawing: Drawing, kind: str) -> tuple[list[str], list[str]]:
    root = etree.fromstring(drawing.page_svg("p").encode())
    marks = root.xpath(f"//*[local-name()='g'][@class='{kind}']")
    return [mark[0].text for mark in marks], [text.strip() for text in root.itertext() if text.strip()]


def test_a_picture_for_every_head_and_words_at_the_edges() -> None:
    attended = SentenceAttention(["</s>", "x$y"], ["eins", "zwei", "drei"], [torch.rand(3, 2, 3) for _ in range(2)])
    marks, texts = read(matrices.heads("model: decoder attention", attended), "head")
    assert sorted(marks) == [f"layer {layer}, head {head}" for layer in (1, 2) for head in (1, 2, 3)]
    assert texts.count("x$y") == 2  # of each row of pictures
    assert texts.count("zwei") == 3  # of each column


def test_long_sentences_and_deep_models_make_no_picture_without_end() -> None:
    words = [f"w{number}" for number in range(150)]
    drawing = matrices.heads("decoder attention", SentenceAttention(words, words, [torch.rand(8, 150, 150)] * 4))
    width, height = drawing.figure.get_size_inches()
    assert matrices.MOST < width < matrices.MOST + 4
    assert height < matrices.MOST + 4


def test_a_picture_for_every_matrix() -> None:
    marks, texts = read(matrices.draw("CKA", {f"m{n}": [[1.0, 0.5], [0.5, 1.0]] for n in range(5)}), "matrix")
    assert marks == [f"m{n}" for n in range(5)]
    assert "CKA" in texts
