"""Benchmarks, and scripts of records: each is there that a page names, and there is none that nothing names."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def named(folder: str) -> set[str]:
    """Return the scripts that a page, a recipe, the Makefile or the test of a record names."""
    globs = ("Makefile", "README.md", "docs/**/*.md", "recipes/**/*.md", "tests/documents/*.py")
    pages = [page for glob in globs for page in ROOT.glob(glob)]
    return {name for page in pages for name in re.findall(rf"{folder}/(\w+\.py)", page.read_text())}


def scripts(folder: str) -> set[str]:
    return {file.name for file in (ROOT / folder).glob("*.py") if "__main__" in file.read_text()}


@pytest.mark.parametrize("folder", ["benchmarks", "docs/results/scripts"])
def test_pages_name_every_script_and_no_other(folder: str) -> None:
    assert named(folder) == scripts(folder)
