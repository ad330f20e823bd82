"""Fixtures of all tests of one comparison."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from grids.comparisons import DONE


@pytest.fixture(autouse=True)
def alone(request: pytest.FixtureRequest) -> Iterator[None]:
    """Some tests edit, and put back, the comparison that others read, in whichever process."""
    if "root" not in request.fixturenames:
        yield
        return
    with FileLock(f"{request.getfixturevalue('root')}.in_use"):
        yield


@pytest.fixture
def cell_folder(root: Path) -> Iterator[Path]:
    """A cell that is as it was after the test."""
    folder = root / "runs/cells" / DONE[0]
    copy = root / "kept"
    shutil.copytree(folder, copy)
    yield folder
    shutil.rmtree(folder)
    copy.rename(folder)
