"""A cell.json that holds values of another kind is refused with its name; what the package writes is read."""

from pathlib import Path

from grids.grid_cells import stub
from msgspec import to_builtins

from realformer_nmt.common.files import json_records
from realformer_nmt.common.stages.versions import hardware
from realformer_nmt.comparison.records import cell_record
from realformer_nmt.comparison.records.cell_record import WAITING

SESSION = {"started": "2026-11-20T18:00:00+00:00", "finished": None, "faults": []}
MACHINE = to_builtins(hardware())
RECORD = {"state": "done", "evidence": None, "sessions": [SESSION], "unigram_entropy": 7.5, "machine": MACHINE}


def test_what_the_package_writes_is_read(tmp_path: Path) -> None:
    cell = stub(tmp_path)
    assert cell_record.read(cell) == WAITING
    json_records.write_sealed(cell.record_file, RECORD)
    assert to_builtins(cell_record.read(cell)) == {**RECORD, "failure": None, "records": []}
