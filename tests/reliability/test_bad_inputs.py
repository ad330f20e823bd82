"""Every mistake of bad_inputs.py ends with one line that says what is wrong where, and with a status that is not 0."""

import re
import shutil
from pathlib import Path

import pytest
from faults import bad_files
from faults.bad_inputs import CONTRADICTIONS, MISTAKES, Mistake

from realformer_nmt import cli
from realformer_nmt.common.errors import UserError

CREATED = ("made", "run", "out", "cells")
PROGRESS = re.compile(r"training on the CPU|protocol \S+ \(|\w+: done in \d+ s")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, toy_corpus: Path) -> Path:
    folder = tmp_path_factory.mktemp("bad_inputs")
    bad_files.write(folder, toy_corpus)
    return folder


@pytest.fixture
def inputs(files: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    for name in CREATED:
        shutil.rmtree(files / name, ignore_errors=True)
    monkeypatch.chdir(files)
    return files


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_one_line_says_what_where_and_what_to_do(mistake: Mistake, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(mistake.words.split()) == 1
    lines = [line for line in capsys.readouterr().err.splitlines() if not PROGRESS.match(line)]
    assert len(lines) == 1, lines
    assert lines[0].startswith("realformer-nmt: ")
    assert re.search(mistake.message, lines[0])
    assert "unexpected error" not in lines[0]


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize("mistake", CONTRADICTIONS, ids=lambda mistake: mistake.name)
def test_flags_that_contradict_each_other_are_wrong_usage(mistake: Mistake, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(mistake.words.split()) == 2
    assert re.search(mistake.message, capsys.readouterr().err.splitlines()[-1])


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize("name", ["average: missing", "prepare: unreadable", "compare: depth 0"])
def test_debug_shows_the_traceback(name: str) -> None:
    (mistake,) = (mistake for mistake in MISTAKES if mistake.name == name)
    with pytest.raises(UserError, match=mistake.message):
        cli.main(["--debug", *mistake.words.split()])


def test_nothing_is_left_under_a_final_name(inputs: Path) -> None:
    for mistake in MISTAKES:
        if mistake.name.startswith(("average", "score", "significance")):
            cli.main(mistake.words.split())
    assert not [name for name in ("average.pt", "run.json") if (inputs / name).exists()]


def test_they_are_sixty_and_more_and_none_twice() -> None:
    assert len({mistake.words for mistake in MISTAKES}) == len(MISTAKES) > 60
