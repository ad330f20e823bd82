"""A sealed record reads as it was written, and no other way."""

import math
from pathlib import Path
from typing import Any

import pytest

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import json_records

RECORD: dict[str, Any] = {
    "complete": True,
    "seconds": 12.5,
    "name": "ä\u2028\ud800",
    "nothing": None,
    "sessions": [{"gpus": 0}, {"gpus": 1}],
    "small": 1e-300,
}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    content = {**RECORD, "name": "ä\u2028\udcff"}  # a path that is not UTF-8
    json_records.write_sealed(tmp_path / "record.json", content)
    assert json_records.read(tmp_path / "record.json", "again") == content
    json_records.write_sealed(tmp_path / "nan.json", {"loss": math.nan})
    assert math.isnan(json_records.read(tmp_path / "nan.json", "again")["loss"])


@pytest.mark.parametrize(
    ("old", "new"), [("12.5", "12.6"), ('"gpus": 1', '"gpus": 2'), ("{", '{"more": 1,'), ('"seal": "', '"seal": "0')]
)
def test_an_edit_is_refused_and_names_the_file(old: str, new: str, tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    json_records.write_sealed(file, RECORD)
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(UserError, match=r"record\.json was changed since"):
        json_records.read(file, "again")


def test_a_file_of_an_older_version_may_have_no_seal(tmp_path: Path) -> None:
    file = tmp_path / "prepare.json"
    file.write_text('{"source": "de"}')
    assert json_records.read(file, "again") == {"source": "de"}


def test_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "prepare.json").mkdir()
    with pytest.raises(UserError, match=r"prepare\.json: Is a directory"):
        json_records.read(tmp_path / "prepare.json", "again")
