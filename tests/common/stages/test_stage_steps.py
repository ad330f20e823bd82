"""A stage of several steps: what each leaves, and that records are read as they have always been written."""

import hashlib
import json
from pathlib import Path

import pytest

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.records import StepRecord
from realformer_nmt.common.stages.stage_steps import SteppedStage, begun_record


class Counted(StepRecord, frozen=True, kw_only=True):
    lines: int


def stage(folder: Path, **settings: object) -> SteppedStage:
    inputs = {"--train SOURCE": folder / "train.en"}
    return SteppedStage("prepare", begun_record(folder), settings, inputs, end=folder / "prepare.json")


def sealed(record: dict[str, object]) -> str:
    """Return the record as JSON, with its checksum computed by hand."""
    seal = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
    return json.dumps({**record, "seal": seal}, indent=2) + "\n"


def begun(folder: Path) -> dict[str, str]:
    """Write a folder whose first step is done, and return its records."""
    text = folder / "train.en"
    text.write_text("one\n")
    content = {"sha256": hashlib.sha256(b"one\n").hexdigest(), "bytes": 4, "modified": text.stat().st_mtime_ns}
    inputs: dict[str, object] = {"--train SOURCE": {**content, "path": str(text)}}
    records = {
        "settings": sealed({"settings": {"pair": ["en", "de"]}, "inputs": inputs}),
        "text": sealed({"lines": 1, "seconds": 0.1}),
    }
    for name, record in records.items():
        file = folder / "stages" / f"{name}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(record)
    return records


def test_a_step_that_is_recorded_is_not_done_again(tmp_path: Path) -> None:
    records = begun(tmp_path)
    same = stage(tmp_path, pair=("en", "de"))
    same.start()
    assert same.step("text", Counted, lambda _: pytest.fail("done again")) == Counted(lines=1, seconds=0.1)
    assert {name: (tmp_path / "stages" / f"{name}.json").read_text() for name in records} == records


def test_what_is_written_is_what_was_always_written(tmp_path: Path) -> None:
    records = begun(tmp_path)
    (tmp_path / "stages" / "settings.json").unlink()
    again = stage(tmp_path, pair=("en", "de"))
    again.start()
    assert (tmp_path / "stages" / "settings.json").read_text() == records["settings"]
    step = again.step("more", Counted, lambda _: Counted(lines=2))
    recorded = json.loads((tmp_path / "stages" / "more.json").read_text())
    assert list(recorded) == ["lines", "seconds", "seal"]
    assert (step.lines, step.seconds) == (2, recorded["seconds"])


def test_another_setting_and_another_input_are_refused_in_one_message(tmp_path: Path) -> None:
    begun(tmp_path)
    (tmp_path / "train.en").write_text("two\n")
    with pytest.raises(UserError) as refused:
        stage(tmp_path, pair=("en", "fr")).start()
    assert "pair was ['en', 'de'], is now ['en', 'fr']; --train SOURCE " in str(refused.value)
    assert f"{tmp_path / 'train.en'} has changed. Give another --folder" in str(refused.value)


def test_until_a_step_is_done_other_settings_and_a_repaired_input_are_no_obstacle(tmp_path: Path) -> None:
    begun(tmp_path)
    (tmp_path / "stages" / "text.json").unlink()
    (tmp_path / "train.en").write_text("two\n")
    origin = stage(tmp_path, pair=("en", "fr")).start()
    assert origin.settings == {"pair": ["en", "fr"]}
    assert origin.inputs["--train SOURCE"].sha256 == hashlib.sha256(b"two\n").hexdigest()
    assert stage(tmp_path, pair=("en", "fr")).start() == origin  # which is on record


def test_a_step_that_is_done_afresh_makes_the_end_void(tmp_path: Path) -> None:
    (tmp_path / "train.en").write_text("one\n")
    end = tmp_path / "prepare.json"
    for expected in (False, True):
        end.touch()
        stage(tmp_path).step("text", StepRecord, lambda _: StepRecord())
        assert end.exists() == expected


def test_a_step_that_fails_leaves_neither_folder_nor_record(tmp_path: Path) -> None:
    def fail(part: Path) -> StepRecord:
        (part / "half").touch()
        raise ZeroDivisionError

    (tmp_path / "train.en").write_text("one\n")
    (tmp_path / "text").mkdir()  # as a process left it that was killed before it wrote the record
    with pytest.raises(ZeroDivisionError):
        stage(tmp_path).step("text", StepRecord, fail)
    assert [path.name for path in tmp_path.iterdir()] == ["train.en"]


def test_an_input_that_changes_while_a_step_reads_it_is_refused_and_read_again(tmp_path: Path) -> None:
    text = tmp_path / "train.en"
    text.write_text("one\n")

    def edit(_: Path) -> StepRecord:
        text.write_text("another\n")
        return StepRecord()

    changing = stage(tmp_path)
    with pytest.raises(UserError, match=rf"{text} was changed while it was read; run this again"):
        changing.step("text", StepRecord, edit, reads=changing.start())
    assert not (tmp_path / "text").exists()
    again = stage(tmp_path)
    origin = again.start()
    assert origin.inputs["--train SOURCE"].sha256 == hashlib.sha256(b"another\n").hexdigest()
    again.step("text", StepRecord, lambda _: StepRecord(), reads=origin)


def test_only_what_the_steps_wrote_is_removed_and_nothing_after_the_end(tmp_path: Path) -> None:
    for file in ("text/train.en", "text/deep/valid.en", "more/test.en", "more/notes"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    written = ["text/train.en", "text/deep/valid.en", "text/absent", "more/test.en"]
    (tmp_path / "prepare.json").touch()
    before = sorted(tmp_path.rglob("*"))
    stage(tmp_path).remove(written)
    assert sorted(tmp_path.rglob("*")) == before
    (tmp_path / "prepare.json").unlink()
    stage(tmp_path).remove(written)
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "more", tmp_path / "more" / "notes"]
