"""Cells in a file, for jobs to read."""

from pathlib import Path

from grids.slurm_cells import only

from realformer_nmt.comparison.running.slurm import written_cells


def test_a_cell_is_read_by_its_job_as_it_was_written(folder: Path, tmp_path: Path) -> None:
    written_cells.write(tmp_path / "cells.json", only(folder))
    assert [written_cells.read(tmp_path / "cells.json", 0)] == only(folder)
