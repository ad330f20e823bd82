"""Checkpoints and the records of trainings, their own and others': which are shown to belong, refused, or neither."""

from pathlib import Path
from typing import Any

import pytest
import torch

from realformer_nmt.checkpoints import lineage
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.records import Origin

FILE = Path("train.json")


def member(sha256: str, *averaged: dict[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {"file": f"checkpoint_{sha256}.pt", "sha256": sha256, "updates": 9}
    return {**entry, "averaged": list(averaged)} if averaged else entry


def save(path: Path, extra: dict[str, Any], seed: int = 1) -> Path:
    cfg = {"model": {"_name": "realformer"}, "common": {"seed": seed}, "checkpoint": {"save_dir": "runs/a"}}
    state = {"model": {"w": torch.ones(1)}, "cfg": cfg, "extra_state": extra, "optimizer_history": [{"num_updates": 9}]}
    torch.save(state, path)
    return path


def training(*hashes: str, seed: int = 1, complete: bool = True) -> TrainRecord:
    """Return a record as `train` writes it, as far as it matters here."""
    origin = Origin(settings={"model": "realformer", "seed": seed})
    listed = {name: f"checkpoint_{name}.pt" for name in hashes}
    return TrainRecord(checkpoints=listed, complete=complete, updates=9, made_from=origin)


EXTRAS = {
    "of an average": {"averaged": [member("a"), member("b")]},
    "of an average of averages": {"averaged": [member("c", member("a")), member("d", member("a"), member("b"))]},
    "of an export": {"exported_from": member("c", member("a"), member("b"))},
}


@pytest.mark.parametrize("extra", EXTRAS.values(), ids=EXTRAS)
def test_hashes_lead_to_the_training(extra: dict[str, Any], tmp_path: Path) -> None:
    path = save(tmp_path / "model.pt", extra)
    assert lineage.prove_training(path, "own", FILE, training("a", "b"))
    with pytest.raises(UserError, match=r"model\.pt is of another training \(runs/a\) than train\.json: checkpoint_b"):
        lineage.prove_training(path, "own", FILE, training("a"))


def test_a_checkpoint_that_is_listed_need_not_be_there(tmp_path: Path) -> None:
    assert lineage.prove_training(tmp_path / "gone.pt", "a", FILE, training("a"))


def test_what_cannot_be_shown_is_accepted_unless_it_contradicts(tmp_path: Path) -> None:
    path = save(tmp_path / "model.pt", {})
    for record in (TrainRecord(), training(), training("a", complete=False)):
        assert lineage.prove_training(path, "own", FILE, record) is False
    with pytest.raises(UserError, match=r"seed 1, there 2; give --training the train\.json of its own training"):
        lineage.prove_training(path, "own", FILE, training(seed=2))
    with pytest.raises(UserError, match=r"model\.pt is none of the 1 checkpoints listed there"):
        lineage.prove_training(path, "own", FILE, training("a"))
