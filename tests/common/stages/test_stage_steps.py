"""A stage of several steps, and what each leaves."""

import hashlib
from dataclasses import replace
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


def begun(folder: Path) -> None:
    """Fill a folder with a step that is done."""
    (folder / "train.en").write_text("one\n")
    first = stage(folder, pair=("en", "de"))
    first.start()
    first.step("text", Counted, lambda _: Counted(lines=1))


def test_a_step_that_is_recorded_is_not_done_again(tmp_path: Path) -> None:
    begun(tmp_path)
    same = stage(tmp_path, pair=("en", "de"))
    same.start()
    assert same.step("text", Counted, lambda _: pytest.fail("done again")).lines == 1


def test_another_setting_and_another_input_are_refused_in_one_message(tmp_path: Path) -> None:
    begun(tmp_path)
    (tmp_path / "train.en").write_text("two\n")
    other = stage(tmp_path, pair=("en", "fr"))
    difference = r"pair was \['en', 'de'\], is now \['en', 'fr'\]"
    with pytest.raises(UserError, match=f"{difference}; --train SOURCE is another file. Give another --folder"):
        other.start()
    with pytest.raises(UserError, match=f"{difference}; --train SOURCE is missing"):
        replace(other, inputs={}).start()


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
