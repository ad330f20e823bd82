"""results.json read as classes and written again: nothing is lost or changed, and what is no record is refused."""

import json
import math
from pathlib import Path

import pytest
from grids import recorded
from grids.sample_results import sample
from msgspec.structs import replace

from realformer_nmt.comparison.results import cell_result, results_file


@pytest.mark.parametrize("file", recorded.comparisons_on_record(), ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_record_is_written_as_it_was_read(file: Path, tmp_path: Path) -> None:
    results_file.write(tmp_path / "results.json", results_file.read(file))
    assert (tmp_path / "results.json").read_text() == file.read_text()  # 500 is not 500.0


def test_what_all_cells_have_is_written_once_and_a_cell_in_one_line(tmp_path: Path) -> None:
    results, file = sample(seeds=1), tmp_path / "results.json"
    entries: list[dict[str, object]] = [{"clip": 1}, {"clip": 1.0}, {"clip": True, "lr": [0.2]}]
    results.cells[:] = [
        replace(cell, settings={"dropout": 0.1, "lr": [0.1], "decoding": {"beam": 4}, **settings})
        for cell, settings in zip(results.cells, entries, strict=False)
    ]
    results_file.write(file, results)
    written = json.loads(file.read_text())
    assert written["shared"]["settings"] == {"dropout": 0.1, "decoding": {"beam": 4}}
    assert json.dumps(written["cells"][1]["settings"]) == '{"lr": [0.1], "clip": 1.0}'
    lines = file.read_text().splitlines()
    assert [line.count('"nll_loss":[') for line in lines if '"settings":{"lr"' in line] == [2, 2, 2]
    assert results_file.read(file).cells == results.cells


def test_a_loss_that_is_no_number_is_written_and_read(tmp_path: Path) -> None:
    """Python's json writes NaN and Infinity, which JSON has not."""
    path = tmp_path / "results.json"
    results = sample(seeds=1)
    points = [cell_result.CurvePoint(update=n, loss=loss) for n, loss in enumerate([math.nan, math.inf, None])]
    results.cells[0].curves.train[:] = points
    results_file.write(path, results)
    assert path.read_text().count("NaN") == path.read_text().count("Infinity") == 1
    first, second, third = results_file.read(path).cells[0].curves.train
    assert math.isnan(first.loss)
    assert (second.loss, third.loss) == (math.inf, None)
