"""A cell.json that holds values of another kind is refused with its name; what the package writes is read."""

from pathlib import Path
from typing import Any

import pytest
from grids.grid_cells import stub
from msgspec import to_builtins

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import checksummed_json
from realformer_nmt.common.stages.versions import hardware
from realformer_nmt.comparison.records import cell_record
from realformer_nmt.comparison.records.cell_record import WAITING

SESSION = {"started": "2026-11-20T18:00:00+00:00", "finished": None, "faults": []}
MACHINE = to_builtins(hardware())
RECORD = {"state": "done", "evidence": None, "sessions": [SESSION], "unigram_entropy": 7.5, "machine": MACHINE}
ODD = ({"state": "finished"}, {"machine": {**MACHINE, "host": "\ud800"}})


def test_what_the_package_writes_is_read(tmp_path: Path) -> None:
    cell = stub(tmp_path)
    assert cell_record.read(cell) == WAITING
    checksummed_json.write(cell.record_file, RECORD)
    assert to_builtins(cell_record.read(cell)) == {**RECORD, "cell": None, "failure": None, "records": []}


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_a_value_of_another_kind_is_refused_by_name(tmp_path: Path, odd: dict[str, Any]) -> None:
    cell = stub(tmp_path)
    checksummed_json.write(cell.record_file, {**RECORD, **odd})
    (name,) = odd
    with pytest.raises(UserError, match=rf"cells/admin-6-s1/cell\.json has an unexpected format.*{name}"):
        cell_record.read(cell)
