"""A sealed record reads as it was written, and no other way."""

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import checksummed_json, json_records

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
    checksummed_json.write(tmp_path / "record.json", content)
    assert checksummed_json.read(tmp_path / "record.json", "again") == content
    checksummed_json.write(tmp_path / "nan.json", {"loss": math.nan})
    assert math.isnan(checksummed_json.read(tmp_path / "nan.json", "again")["loss"])


def edits(value: Any) -> list[Any]:
    """Return copies of a record, each with one part replaced or removed, as an editor may do."""
    replacements = ["no", None, -1, math.nan, [], {}, True, 10**400]
    variants = [other for other in replacements if json.dumps(other) != json.dumps(value)]
    if isinstance(value, dict):
        variants += [{**value, name: other} for name in value for other in edits(value[name])]
        variants += [{k: v for k, v in value.items() if k != name} for name in value]
    if isinstance(value, list):
        variants += [
            [*value[:place], other, *value[place + 1 :]] for place in range(len(value)) for other in edits(value[place])
        ]
        variants += [value[:place] + value[place + 1 :] for place in range(len(value))]
    return variants


def test_every_edit_is_refused_and_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    checksummed_json.write(file, {**RECORD, "name": "a"})
    whole = json.loads(file.read_text())
    changed = edits(whole)
    assert len(changed) > 100
    for content in changed:
        file.write_text(json.dumps(content))
        with pytest.raises(UserError, match=r"record\.json (was changed since|has no seal|is damaged)"):
            checksummed_json.read(file, "again")


def test_a_seal_counts_for_every_reader(tmp_path: Path) -> None:
    """A file like prepare.json may have no seal, since an older version wrote none."""
    file = tmp_path / "prepare.json"
    checksummed_json.write(file, {"source": "en"})
    assert json_records.read(file, "again") == {"source": "en"}
    file.write_text(file.read_text().replace("en", "de"))
    with pytest.raises(UserError, match=r"prepare\.json was changed since it was written"):
        json_records.read(file, "again")
    file.write_text('{"source": "de"}')
    assert json_records.read(file, "again") == {"source": "de"}


def test_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "prepare.json").mkdir()
    with pytest.raises(UserError, match=r"prepare\.json: Is a directory"):
        json_records.read(tmp_path / "prepare.json", "again")


def test_the_order_of_names_and_the_layout_are_no_edit(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    checksummed_json.write(file, {"a": 1, "b": [1.0, "ä"]})
    whole = json.loads(file.read_text())
    file.write_text(json.dumps(dict(reversed(whole.items()))))
    assert checksummed_json.read(file, "again") == {"a": 1, "b": [1.0, "ä"]}


def test_a_record_of_any_depth_is_read_or_refused(tmp_path: Path) -> None:
    """Deep enough for its seal, or for nobody: what can just be read may be too deep to be sealed."""
    file, limit = tmp_path / "record.json", sys.getrecursionlimit()
    for depth in range(limit - 200, limit + 5):
        file.write_text(f'{{"seal": "", "deep": {"[" * depth}{"]" * depth}}}')
        with pytest.raises(UserError, match=r"record\.json (is damaged|was changed|has an unexpected format)"):
            json_records.read(file, "again")
