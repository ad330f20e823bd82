"""Fixtures of all tests of one comparison."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fixture_types import Once
from grids import interrupted
from grids.comparisons import DONE


@pytest.fixture(scope="session")
def compared(once: Once, toy_corpus: Path) -> Path:
    """Folder of a finished comparison: grid.toml, runs/ and seen.json. All tests read it, and none changes it.

    Four cells are trained, two of them begun twice and one three times: 25 seconds, once for eight files of tests.
    """
    return once("compared", lambda folder: interrupted.compare(folder, toy_corpus))


@pytest.fixture(scope="session")
def root(compared: Path) -> Path:
    """Return a copy of it that this process of pytest-xdist alone changes, as deep in the disk."""
    copy = compared.with_name(f"compared_{os.environ.get('PYTEST_XDIST_WORKER', 'copy')}")
    shutil.copytree(compared, copy)
    return copy


@pytest.fixture
def cell_folder(root: Path) -> Iterator[Path]:
    """A cell that is as it was after the test."""
    folder = root / "runs/cells" / DONE[0]
    copy = root / "before_the_test"
    shutil.copytree(folder, copy)
    yield folder
    shutil.rmtree(folder)
    copy.rename(folder)
