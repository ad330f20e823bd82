"""results.json read as classes and written again: nothing is lost or changed, and what is no record is refused."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from grids.sample_results import empty, sample, unfinished
from msgspec import to_builtins
from programs.program import REPOSITORY

from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.results import cell_result, results_file


def is_comparison(file: Path) -> bool:
    content = json.loads(file.read_text())
    return isinstance(content, dict) and {"grid", "cells"} <= set(content)


RECORDS = [file for file in sorted((REPOSITORY / "docs" / "results").glob("*/*.json")) if is_comparison(file)]


def with_keys_of(content: Any, before: Any) -> Any:
    """Leave out the keys that are not in `before`, which fields with a default add."""
    if isinstance(before, dict):
        return {key: with_keys_of(content[key], value) for key, value in before.items()}
    if isinstance(before, list):
        return [with_keys_of(*pair) for pair in zip(content, before, strict=True)]
    return content


def test_there_are_records_of_both_versions() -> None:
    keys = [set(json.loads(file.read_text())) for file in RECORDS]
    assert len(RECORDS) >= 14
    assert {"axes" in record_keys for record_keys in keys} == {True, False}


@pytest.mark.parametrize("file", RECORDS, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_record_is_read_without_loss(file: Path) -> None:
    before = json.loads(file.read_text())
    after = with_keys_of(to_builtins(results_file.read(file)), before)
    assert json.dumps(after) == json.dumps(before)  # 500 is not 500.0


@pytest.mark.parametrize("build", [sample, unfinished, empty])
def test_what_is_written_is_read_back(build: Any, tmp_path: Path) -> None:
    results = build()
    results_file.write(tmp_path / "results.json", results)
    assert results_file.read(tmp_path / "results.json") == results


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


def test_a_key_of_a_newer_version_is_ignored(tmp_path: Path) -> None:
    content = to_builtins(sample(seeds=1))
    content["cells"][0]["energy"] = 1.5
    (tmp_path / "results.json").write_text(json.dumps({**content, "weather": "fine"}))
    assert results_file.read(tmp_path / "results.json") == sample(seeds=1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.pop("cells"), "missing required field `cells`"),
        (lambda content: content["cells"][1].pop("family"), r"missing required field `family` - at `\$\.cells\[1\]`"),
        (lambda content: content["rows"][0].update(seeds="3"), r"got `str` - at `\$\.rows\[0\]\.seeds`"),
        (lambda content: content["cells"][0].update(hours=True), r"got `bool` - at `\$\.cells\[0\]\.hours`"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(change: Any, message: str, tmp_path: Path) -> None:
    path, content = tmp_path / "results.json", to_builtins(sample(seeds=1))
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(UserError, match=message) as error:
        results_file.read(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text("{")
    with pytest.raises(UserError, match=r"results\.json is damaged"):
        results_file.read(tmp_path / "results.json")
