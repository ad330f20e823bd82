"""Every mistake of bad_inputs.py ends with one line that says what is wrong where, and with a status that is not 0."""

import re
import shutil
from pathlib import Path

import pytest
from faults import bad_files
from faults.bad_inputs import MISTAKES, Mistake

from realformer_nmt import cli

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
