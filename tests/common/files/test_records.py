"""A record as a class: what is written, in which order, and what is refused by name."""

import json
from pathlib import Path

import numpy as np
import pytest
from msgspec import UNSET, Struct, UnsetType

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import json_records, records
from realformer_nmt.common.files.records import Finite, Origin, StageRecord, Text, none_if_unset


class Score(StageRecord, frozen=True, kw_only=True):
    name: Text
    score: Finite
    margin: float | UnsetType = UNSET


class Odd(Struct, frozen=True):
    value: object


def test_the_origin_is_written_last_and_what_is_unset_not_at_all(tmp_path: Path) -> None:
    record = Score(name="bleu", score=1.5, made_from=Origin(settings={"beam": 4}))
    records.write(tmp_path / "score.json", record)
    content = json.loads((tmp_path / "score.json").read_text())
    assert list(content) == ["name", "score", "made_from", "outputs", "seal"]
    assert records.read(tmp_path / "score.json", Score, "") == record
    assert (none_if_unset(record.margin), none_if_unset(1.5)) == (None, 1.5)


def test_a_float_of_numpy_is_a_number_and_other_objects_are_none(tmp_path: Path) -> None:
    records.write(tmp_path / "score.json", Score(name="bleu", score=np.float64(0.1)))
    assert json.loads((tmp_path / "score.json").read_text())["score"] == 0.1
    with pytest.raises(NotImplementedError, match="set_iterator has no form in JSON"):
        records.write(tmp_path / "odd.json", Odd(iter({1})))


@pytest.mark.parametrize(
    ("field", "value"),
    [("name", 5), ("name", "\ud800"), ("score", "high"), ("score", float("nan")), ("score", float("inf"))],
)
def test_a_value_of_another_kind_is_refused_by_file_and_field(field: str, value: object, tmp_path: Path) -> None:
    json_records.write_sealed(tmp_path / "score.json", {"name": "bleu", "score": 1.5, field: value})
    with pytest.raises(UserError, match=rf"score\.json has an unexpected format: .* at `\$\.{field}`; put it back"):
        records.read(tmp_path / "score.json", Score, "put it back")


def test_a_missing_field_is_named_and_one_of_a_newer_version_passed_over(tmp_path: Path) -> None:
    json_records.write_sealed(tmp_path / "score.json", {"name": "bleu", "score": 1.5, "of_tomorrow": 1})
    assert records.read(tmp_path / "score.json", Score, "").score == 1.5
    json_records.write_sealed(tmp_path / "score.json", {"name": "bleu"})
    with pytest.raises(UserError, match="missing required field `score`"):
        records.read(tmp_path / "score.json", Score, "")
