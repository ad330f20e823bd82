"""Cells in a file, for jobs to read."""

import sys
from pathlib import Path

import pytest
from grids.slurm_cells import only

from realformer_nmt.comparison.grid.cells import with_user_dir
from realformer_nmt.comparison.running.slurm import written_cells


def test_a_cell_is_read_by_its_job_as_it_was_written(folder: Path, tmp_path: Path) -> None:
    written_cells.write(tmp_path / "cells.json", only(folder))
    assert [written_cells.read(tmp_path / "cells.json", 0)] == only(folder)


def test_the_folder_of_a_users_rows_is_imported_for_the_scores_of_any_cell(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    rows = tmp_path / "rows_of_a_user"
    rows.mkdir()
    (rows / "__init__.py").touch()
    cells = [with_user_dir(cell, rows) for cell in only(folder)]
    assert not any(cell.stages[0].request.user_dir for cell in cells)
    written_cells.write(tmp_path / "cells.json", cells)
    assert [written_cells.read(tmp_path / "cells.json", 0)] == cells
    assert rows.name in sys.modules
