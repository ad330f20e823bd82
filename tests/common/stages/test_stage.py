"""A stage called again: done, to be done, or refused with every difference."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from realformer_nmt.checkpoints.average_record import AverageRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import json_records
from realformer_nmt.common.stages.stage import Stage


def stage(folder: Path, **settings: Any) -> Stage:
    inputs = {name: folder / name for name in ("one.pt", "two.pt")}
    return Stage("average", folder / "average.json", {"last": 2, "until": None, **settings}, inputs)


def make(average_stage: Stage) -> None:
    origin = average_stage.new_origin()
    output = average_stage.record.with_name("average.pt")
    with average_stage.claimed(output):
        output.write_text("mean")
    average_stage.write(
        AverageRecord(averaged=["one.pt"], made_from=origin, outputs=average_stage.fingerprints(output))
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("one.pt", "two.pt"):
        (tmp_path / name).write_text(name)
    make(stage(tmp_path))
    return tmp_path


def test_the_same_again_is_done(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.utime(folder / "one.pt", ns=(1, 1))
    os.utime(folder / "average.pt", ns=(1, 1))
    assert stage(folder).is_up_to_date(fresh=False)
    assert capsys.readouterr().out.count("\n") == 1
    assert not stage(folder).is_up_to_date(fresh=True)


@pytest.mark.parametrize("complete", [True, False])
def test_a_record_of_before_is_continued_and_not_written_over(folder: Path, complete: bool) -> None:
    """Version 0.3.0 did not record which command had written it."""
    content = json_records.read(folder / "average.json", "")
    assert content.pop("written_by") == "realformer-nmt average"
    json_records.write_sealed(folder / "average.json", {**content, "complete": complete})
    assert stage(folder).is_up_to_date(fresh=False) == complete
    for other, fresh in ((stage(folder), True), (stage(folder, last=3), False)):
        with pytest.raises(UserError, match=r"average\.json exists, and nothing says"):
            other.is_up_to_date(fresh)


def test_a_missing_file_that_it_was_not_made_from_is_refused(folder: Path) -> None:
    """Neither another name nor the same name in another folder stands for a file that was removed."""
    for name, path in (("no-such.pt", folder / "no-such.pt"), ("two.pt", folder / "other" / "two.pt")):
        mistyped = replace(stage(folder), inputs={"one.pt": folder / "one.pt", name: path})
        with pytest.raises(UserError, match=rf"{name}: no such file, and .*average\.json was not made from it"):
            mistyped.is_up_to_date(fresh=False)


def test_a_folder_may_be_moved_and_its_inputs_removed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    moved = folder.rename(tmp_path_factory.mktemp("moved") / "folder")
    (moved / "one.pt").unlink()
    assert stage(moved).is_up_to_date(fresh=False)


def test_what_was_known_of_a_removed_input_stays_on_record(folder: Path) -> None:
    inputs = json.loads((folder / "average.json").read_text())["made_from"]["inputs"]
    (folder / "one.pt").unlink()
    again = stage(folder)
    assert to_builtins(again.origin(again.status().record).inputs) == inputs


def test_an_output_that_is_gone_is_to_be_made(folder: Path) -> None:
    (folder / "average.pt").unlink()
    assert not stage(folder).is_up_to_date(fresh=False)


def test_every_difference_is_named_in_one_message(folder: Path) -> None:
    (folder / "two.pt").write_text("another")
    with pytest.raises(UserError) as refused:
        stage(folder, last=3).is_up_to_date(fresh=False)
    for words in ("average.json", "last was 2, is now 3", "two.pt is another file", "--fresh"):
        assert words in str(refused.value)
    assert "one.pt" not in str(refused.value)


def test_an_output_that_was_replaced_is_not_overwritten_unasked(folder: Path) -> None:
    (folder / "average.pt").write_text("theirs")
    with pytest.raises(UserError, match=r"average\.pt has changed since it was written"):
        stage(folder).is_up_to_date(fresh=False)
    assert (folder / "average.pt").read_text() == "theirs"


def test_a_record_without_its_checksum_is_refused_by_its_name(folder: Path) -> None:
    record = folder / "average.json"
    content = json_records.read(record, "")
    for text in (json.dumps(content), json.dumps({**content, "seal": "0"})):
        record.write_text(text)
        with pytest.raises(UserError, match=r"average\.json .*use --fresh to redo it"):
            stage(folder).is_up_to_date(fresh=False)
    make(stage(folder))
    assert stage(folder).is_up_to_date(fresh=False)


def test_an_input_that_changes_under_the_work_is_noticed(folder: Path) -> None:
    average_stage = stage(folder)
    origin, before = average_stage.new_origin(), average_stage.record.read_bytes()
    (folder / "one.pt").write_text("while it was read")
    with pytest.raises(UserError, match=r"one\.pt was changed while it was read"):
        average_stage.write(AverageRecord(made_from=origin))
    assert average_stage.record.read_bytes() == before


def test_a_record_stays_until_its_outputs_are_written_over(folder: Path) -> None:
    record, again = folder / "average.json", stage(folder, last=3)
    before = record.read_bytes()
    (folder / "mine.pt").write_text("mine")
    again.new_origin()
    with pytest.raises(UserError, match=r"mine\.pt exists, and nothing says"), again.claimed(folder / "mine.pt"):
        pytest.fail("it is written over")
    assert record.read_bytes() == before
    with again.claimed(folder / "average.pt"):
        assert not record.exists()
    assert not again.is_up_to_date(False, folder / "average.pt")
