"""Checkpoints and the records of trainings, their own and others': shown to belong, refused, or neither."""

from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from realformer_nmt.checkpoints import belongs, model_in_run, origins
from realformer_nmt.checkpoints.average_record import AverageRecord
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import json_records, records
from realformer_nmt.common.files.records import Fingerprint, Origin
from realformer_nmt.common.stages.provenance import fingerprint


def member(sha256: str, *averaged: dict[str, Any]) -> dict[str, Any]:
    return {"file": f"{sha256}.pt", "sha256": sha256, "averaged": list(averaged)}


EXTRAS: dict[str, dict[str, Any]] = {
    "of an average": {"averaged": [member("a"), member("b")]},
    "of an average of averages": {"averaged": [member("a"), member("d", member("a"), member("b"))]},
    "of an export": {"exported_from": member("c", member("a"), member("b"))},
}


@pytest.mark.parametrize("extra", EXTRAS.values(), ids=EXTRAS)
def test_hashes_lead_to_the_training(extra: dict[str, Any]) -> None:
    """A training may have other checkpoints than those it lists before its end, or where it lists none."""
    path, record = Path("model.pt"), Path("train.json")
    models = origins.sources(path, {"extra_state": extra})
    whole = TrainRecord(checkpoints={"a": "a.pt", "b": "b.pt"}, complete=True)
    assert belongs.unlisted(models, whole) == []
    other = replace(whole, checkpoints={"a": "a.pt"})
    begun, bare = replace(other, complete=False), replace(other, checkpoints={})
    assert belongs.unlisted(models, other) == belongs.unlisted(models, begun) == ["b.pt"]
    for training in (whole, begun, bare):
        belongs.check(path, models, record, training, "")
    with pytest.raises(UserError, match=r"model\.pt is of another training than train\.json: b\.pt is none"):
        belongs.check(path, models, record, other, "")


def make_run(folder: Path, sha256: str) -> Path:
    folder.mkdir()
    average = folder / "average.pt"
    average.write_text(sha256)
    origin = Origin(inputs={"checkpoint_last.pt": Fingerprint(sha256=sha256)})
    record = AverageRecord(made_from=origin, outputs={average.name: fingerprint(average)})
    records.write(folder / "average.pt.json", record)
    json_records.write_sealed(folder / "train.json", {"complete": True, "checkpoints": {sha256: "checkpoint_last.pt"}})
    return folder


def test_a_run_of_its_own_files_has_its_average(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_run(tmp_path / "run", "a")
    monkeypatch.chdir(folder)
    assert model_in_run.parse_checkpoint(".") == Path("average.pt")
    with pytest.raises(ArgumentTypeError, match="'' names no file and no folder"):
        model_in_run.parse_checkpoint("")
    assert model_in_run.checkpoint(folder) == folder / "average.pt"
    assert model_in_run.checkpoint(folder / "average.pt") == folder / "average.pt"


@pytest.mark.parametrize("name", ["average.pt", "average.pt.json"])
def test_another_average_is_refused(name: str, tmp_path: Path) -> None:
    one, other = (make_run(tmp_path / sha256, sha256) for sha256 in "ab")
    (other / name).replace(one / name)
    for path in (one, one / "average.pt"):
        with pytest.raises(UserError, match=r"average\.pt has changed since .*average\.pt\.json was written"):
            model_in_run.checkpoint(path)


def test_the_average_of_another_training_is_refused(tmp_path: Path) -> None:
    one, other = (make_run(tmp_path / sha256, sha256) for sha256 in "ab")
    (other / "train.json").replace(one / "train.json")
    with pytest.raises(UserError, match=r"is of another training than .*train\.json: checkpoint_last\.pt is none of"):
        model_in_run.checkpoint(one)
    assert model_in_run.checkpoint(one / "average.pt") == one / "average.pt"
