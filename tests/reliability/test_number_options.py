"""Whatever number an option of `realformer-nmt` is given, the command works or ends with one line.

Values out of range here; where EVERY_MISTAKE is set, as `make reliability` does, those within are tried to the end.
"""

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faults import bad_files
from fixture_types import Once

from realformer_nmt import cli, subcommands
from reliability import number_options
from reliability.number_options import ENDLESS, VALUES, Option

OPTIONS = number_options.numbers()
CREATED = ("made", "run", "out", "cells", "run.json", "average.pt", "test.json")
SECONDS = 300  # on a machine with other work
TAKEN = [(option, value) for option in OPTIONS for value in VALUES if option.takes(value) and option.command != ENDLESS]
EVERY = TAKEN if "EVERY_MISTAKE" in os.environ else []


def refused() -> Iterator[Any]:
    """Yield a value for each option, and all values for the first of each range; the others run with `product`."""
    first: set[object] = set()
    for option in OPTIONS:
        values = [value for value in VALUES if not option.takes(value)]
        marks = () if (option.type, option.range) not in first else pytest.mark.product
        first.add((option.type, option.range))
        for value, mark in zip(values, [(), *[marks] * len(values)], strict=False):
            yield pytest.param(option, value, marks=mark, id=f"{option.command} {option.name} {value}")


def ids(cases: list[tuple[Option, str]]) -> list[str]:
    return [f"{option.command} {option.name} {value}" for option, value in cases]


@pytest.fixture(scope="module")
def inputs(once: Once, toy_corpus: Path) -> Path:
    return once("number_options", lambda folder: bad_files.write(folder, toy_corpus))


@pytest.fixture
def folder(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(inputs)
    for path in map(Path, CREATED):
        shutil.rmtree(path, ignore_errors=True)
        path.unlink(missing_ok=True)


def ended(words: list[str]) -> object:
    try:
        return cli.main(words)
    except SystemExit as system_exit:
        return system_exit.code


def test_every_option_that_takes_a_number_says_which() -> None:
    """A new one without a range is found here: give it one of common/numbers.py, and BASES its command."""
    for option in OPTIONS:
        assert option.range is not None or option.name == "--no-answer", option
    assert {option.command for option in OPTIONS} == number_options.BASES.keys()
    assert len(OPTIONS) > 50


@pytest.mark.parametrize(("option", "value"), [*refused()])
@pytest.mark.usefixtures("folder")
def test_a_number_out_of_range_is_refused_at_once(
    option: Option, value: str, capfd: pytest.CaptureFixture[str]
) -> None:
    status = ended(option.words(value))
    lines = capfd.readouterr().err.splitlines()
    if value == "many" or re.search("invalid int value", lines[-1]):
        assert status == 2
        assert re.match(rf"realformer-nmt: {option.name}: invalid", lines[-1])
    else:
        assert status == 1
        (line,) = lines
        assert re.match(rf"realformer-nmt: {option.name} -?[\w.+]+: allowed is \S", line)


@pytest.mark.parametrize(("option", "value"), EVERY, ids=ids(EVERY))
@pytest.mark.usefixtures("folder")
def test_a_number_within_works_or_ends_with_one_line(
    option: Option, value: str, capfd: pytest.CaptureFixture[str]
) -> None:
    begun = time.monotonic()
    status = ended(option.words(value))
    out, err = capfd.readouterr()
    assert time.monotonic() - begun < SECONDS
    assert status == 0 or (status == 1 and err.splitlines()[-1].startswith("realformer-nmt: ")), err
    assert "Traceback" not in out + err
    assert "unexpected error" not in err


@pytest.mark.parametrize("name", [row.name for row in subcommands.SUBCOMMANDS])
def test_the_defaults_are_in_range(name: str) -> None:
    for option in OPTIONS:
        if option.command == name and isinstance(option.field.default, int | float):
            assert option.takes(str(option.field.default)), option
