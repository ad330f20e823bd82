"""An average beside its record and its run's training: as it was made, changed, or of another run."""

from pathlib import Path

import pytest

from realformer_nmt.checkpoints import model_in_run
from realformer_nmt.checkpoints.average_record import AverageRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import checksummed_json, records
from realformer_nmt.common.files.records import Fingerprint, Origin
from realformer_nmt.common.stages.provenance import fingerprint


def make_run(folder: Path, sha256: str) -> Path:
    folder.mkdir()
    average = folder / "average.pt"
    average.write_text(sha256)
    origin = Origin(inputs={"checkpoint_last.pt": Fingerprint(sha256=sha256)})
    record = AverageRecord(made_from=origin, outputs={average.name: fingerprint(average)})
    records.write(folder / "average.pt.json", record)
    checksummed_json.write(folder / "train.json", {"complete": True, "checkpoints": {sha256: "checkpoint_last.pt"}})
    return folder


def test_a_run_of_its_own_files_has_its_average(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", "a")
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
