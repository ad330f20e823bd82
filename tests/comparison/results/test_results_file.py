"""results.json read as classes and written again: nothing is lost or changed, and what is no record is refused."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from grids import recorded
from grids.sample_results import sample
from msgspec import to_builtins
from msgspec.structs import replace

from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.results import cell_result, compact_json, results_file


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content["cells"][1].pop("family"), r"missing required field `family` - at `\$\.cells\[1\]`"),
        (lambda content: content["rows"][0].update(seeds="3"), r"got `str` - at `\$\.rows\[0\]\.seeds`"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(change: Any, message: str, tmp_path: Path) -> None:
    path, content = tmp_path / "results.json", compact_json.compact(to_builtins(sample(seeds=1)))
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(UserError, match=message) as error:
        results_file.read(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)
