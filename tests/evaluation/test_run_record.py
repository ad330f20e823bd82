"""A sealed run.json that says no numbers is refused by name; the numbers of one that does are read."""

import copy
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import checksummed_json, records
from realformer_nmt.evaluation.run_record import RunRecord
from reliability.fuzzing import RUN as EMPTY

SHORTCUT = {"sublayer": "encoder.layers.0.ffn", "mean": 1.5}
FIGURE = {"paper": "He 2021", "model": "RealFormer", "encoder_layers": 6, "decoder_layers": 6, "bleu": None}
FIGURE |= {"dataset": "WMT", "metric": "BLEU", "note": "", "comparable_with": None}
RUN = {**EMPTY, "models": [{**EMPTY["models"][0], "shortcuts": [SHORTCUT]}], "published": [FIGURE]}


def test_a_whole_record_is_read_as_it_is_and_written_again(tmp_path: Path) -> None:
    checksummed_json.write(tmp_path / "run.json", RUN)
    record = records.read(tmp_path / "run.json", RunRecord, "")
    assert {name: value for name, value in to_builtins(record).items() if name in RUN} == RUN
    records.write(tmp_path / "again.json", record)
    assert records.read(tmp_path / "again.json", RunRecord, "") == record


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("scores", "bleu", "score"), float("nan")),
        (("models",), []),
        (("validation", "nll_loss"), "low"),
        (("models", 0, "shortcuts", 0, "sublayer"), "\ud800"),
    ],
)
def test_values_of_another_kind_are_refused_with_the_files_name(
    tmp_path: Path, place: tuple[Any, ...], value: object
) -> None:
    record: dict[str, Any] = copy.deepcopy(RUN)
    table: Any = record
    for key in place[:-1]:
        table = table[key]
    table[place[-1]] = value
    checksummed_json.write(tmp_path / "run.json", record)
    with pytest.raises(UserError, match=rf"run\.json .*{place[0]}|run\.json has an unexpected format"):
        records.read(tmp_path / "run.json", RunRecord, "")
