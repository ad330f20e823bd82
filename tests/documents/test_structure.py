"""The package is typed and in plain words, by the figures of tools/structure.py: none grows again."""

import subprocess
import sys

import pytest
from programs.program import REPOSITORY

MOST = {
    "functions that take a Namespace": 3,  # where a command begins
    "untyped tables": 1,  # the options of a request, to build another with
    "options of the commands": 187,
    "argument parsers": 1,
    "searches in argv": 0,
    "files in the largest room": 16,
    "files that say a task's name": 1,
    "files that say a subword method's name": 1,
    "class names defined twice": 0,
    "banned names": 1,  # a key of a record
    "functions called demand": 0,
    "docstrings that complete a name": 0,
    "banned names beside the package": 0,
    "docstrings that complete a name beside it": 0,
    "functions over 40 lines": 0,
    "lines of the package": 34_750,
    "lines of tests": 36_140,
    "lines of reliability": 3_150,
    "lines of benchmarks": 2_360,
    "lines of tools": 505,
    "lines of tools/authors_code": 2_090,
    "lines of docs/results/scripts": 1_570,
    "megabytes of docs/results": 3.0,
}
CASES = 7_650  # of the whole suite, without those that `make reliability` and `make stock` run


@pytest.fixture(scope="module")
def figures() -> dict[str, float]:
    words = [sys.executable, "tools/structure.py"]
    printed = subprocess.run(words, cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout
    pairs = (line.rsplit(maxsplit=1) for line in printed.splitlines())
    return {name: float(value.replace(",", "")) for name, value in pairs}


@pytest.mark.parametrize("name", MOST)
def test_no_figure_grows(name: str, figures: dict[str, float]) -> None:
    assert figures[name] <= MOST[name]


def test_every_bound_is_of_a_figure(figures: dict[str, float]) -> None:
    assert MOST.keys() <= figures.keys()
    assert figures["functions"] > 2000


def test_the_suite_has_no_more_cases(request: pytest.FixtureRequest) -> None:
    """A run of a part of the suite always passes."""
    assert len(request.session.items) <= CASES
