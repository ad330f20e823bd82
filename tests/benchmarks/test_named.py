"""The scripts of benchmarks/: each is there that a page names, and there is none that nothing names."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"


def named() -> set[str]:
    """Return the benchmarks that a page, a recipe, the Makefile or the test of a record names."""
    globs = ("Makefile", "README.md", "docs/**/*.md", "recipes/**/*.md", "tests/documents/*.py")
    pages = [page for glob in globs for page in ROOT.glob(glob)]
    return {name for page in pages for name in re.findall(r"benchmarks/(\w+\.py)", page.read_text())}


def scripts() -> set[str]:
    return {file.name for file in BENCHMARKS.glob("*.py") if "__main__" in file.read_text()}


def test_pages_name_every_script_and_no_other() -> None:
    assert named() == scripts()
