"""Fixture of all tests of SLURM: a grid of one cell."""

from pathlib import Path

import pytest
from grids import comparisons

MORE = """
[slurm]
partition = "deep"
time = 30
poll = 2
"""


@pytest.fixture
def folder(tmp_path: Path, toy_corpus: Path) -> Path:
    """Folder with a grid of one cell, which is stopped as stuck: its learning rate is 0."""
    grid = comparisons.write_grid(tmp_path, toy_corpus, more=MORE)
    text = grid.read_text()
    for whole, one in comparisons.ONLY_STUCK.items():
        assert whole in text
        text = text.replace(whole, one)
    grid.write_text(text)
    return tmp_path
