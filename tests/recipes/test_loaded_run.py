"""The run of a recipe as an object of Python, which reads and writes raw text as `translate` did."""

from collections.abc import Callable
from pathlib import Path

import pytest
from recipe_scripts.recipe import RUN

import realformer_nmt
from realformer_nmt.common.files.text_lines import read_lines


@pytest.mark.parametrize(
    ("name", "beam", "lenpen"),
    [("wmt14_en_de", 4, 0.6), pytest.param("wmt14_en_fr", 5, 0.8, marks=pytest.mark.product)],
)
def test_it_writes_what_translate_wrote(
    name: str, beam: int, lenpen: float, scored: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = scored(name)
    monkeypatch.chdir(folder.parent)
    model = realformer_nmt.load(folder / RUN, cpu=True)
    sources = read_lines(folder / "data" / "test.raw.en")
    written = read_lines(folder / RUN / "translation" / "hypotheses.txt")
    assert len(set(written)) > 1
    assert model.translate(sources, beam=beam, lenpen=lenpen) == written
