"""Disks that refuse what is written, as far as this takes no root; `make reliability` has real ones."""

import contextlib
from pathlib import Path

import pytest
import torch

from reliability import disks


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of nothing much, which `average` takes for one."""
    path = tmp_path_factory.mktemp("made") / "checkpoint1.pt"
    torch.save({"model": {"w": torch.ones(9999)}, "optimizer_history": [{"num_updates": 1}]}, path)
    return path


@pytest.mark.parametrize("fault", disks.FAULTS)
@pytest.mark.parametrize("writer", disks.WRITERS)
def test_what_cannot_be_written_is_an_error_and_leaves_no_half(
    writer: str, fault: str, checkpoint: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    outcome = disks.attempt(writer, disks.FAULTS[fault], toy_corpus, checkpoint, tmp_path / "out")
    assert outcome.refused, outcome


def test_the_trial_sees_what_it_looks_for(checkpoint: Path, toy_corpus: Path, tmp_path: Path) -> None:
    outcome = disks.attempt("average", contextlib.nullcontext, toy_corpus, checkpoint, tmp_path / "out")
    assert (outcome.status, outcome.refused) == (0, False)
    assert {"average.pt", "average.pt.json"} <= {*outcome.torn}
