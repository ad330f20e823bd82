"""A sealed run.json that says no numbers is refused by name; the numbers of one that does are read."""

from pathlib import Path

from msgspec import to_builtins

from realformer_nmt.common.files import json_records, records
from realformer_nmt.evaluation.run_record import RunRecord
from reliability.fuzzing import RUN as EMPTY

SHORTCUT = {"sublayer": "encoder.layers.0.ffn", "mean": 1.5}
FIGURE = {"paper": "He 2021", "model": "RealFormer", "encoder_layers": 6, "decoder_layers": 6, "bleu": None}
FIGURE |= {"dataset": "WMT", "metric": "BLEU", "note": "", "comparable_with": None}
RUN = {**EMPTY, "models": [{**EMPTY["models"][0], "shortcuts": [SHORTCUT]}], "published": [FIGURE]}


def test_a_whole_record_is_read_as_it_is_and_written_again(tmp_path: Path) -> None:
    json_records.write_sealed(tmp_path / "run.json", RUN)
    record = records.read(tmp_path / "run.json", RunRecord, "")
    assert {name: value for name, value in to_builtins(record).items() if name in RUN} == RUN
    records.write(tmp_path / "again.json", record)
    assert records.read(tmp_path / "again.json", RunRecord, "") == record
