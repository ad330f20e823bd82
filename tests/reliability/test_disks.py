"""Disks that refuse what is written, as far as this takes no root; `make reliability` has real ones."""

import contextlib
import re
from pathlib import Path

import pytest
import torch

from reliability import disks, writers


@pytest.fixture(scope="module")
def trained(toy_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> writers.Trained:
    """A checkpoint of nothing much, which `average` and a download take for one."""
    folder = tmp_path_factory.mktemp("made")
    torch.save({"model": {"w": torch.ones(9999)}, "optimizer_history": [{"num_updates": 1}]}, folder / "checkpoint1.pt")
    return writers.Trained.of(toy_corpus, folder / "checkpoint1.pt", folder)


@pytest.mark.parametrize("fault", disks.FAULTS)
@pytest.mark.parametrize("writer", writers.WRITERS)
def test_what_cannot_be_written_is_an_error_and_leaves_no_half(
    writer: str, fault: str, trained: writers.Trained, tmp_path: Path
) -> None:
    outcome = disks.attempt(writer, disks.FAULTS[fault], trained, tmp_path / "out")
    assert outcome.status == 1
    (line,) = outcome.output.splitlines()[-1:]
    assert line.startswith("realformer-nmt: ")
    assert re.search(disks.SYSTEM, line)
    assert "Traceback" not in outcome.output
    assert outcome.torn == []
    assert outcome.refused


def test_the_trial_sees_what_it_looks_for(trained: writers.Trained, tmp_path: Path) -> None:
    outcome = disks.attempt("text", contextlib.nullcontext, trained, tmp_path)
    assert (outcome.status, outcome.torn, outcome.refused) == (0, ["test.txt"], False)
    assert (tmp_path / "test.txt").read_text().endswith("\n99998\n")


def test_a_folder_that_vanishes_meanwhile_is_an_error_and_not_made_again(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    outcome = disks.vanish(tmp_path / "out")
    assert outcome.status == 1
    assert outcome.output.startswith("realformer-nmt: ")
    assert "No such file or directory" in outcome.output
    assert outcome.refused
    assert not (tmp_path / "out").exists()
