"""`compare --status` reads the cells' records without the checks of the whole comparison."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from realformer_nmt.common.files import checksummed_json
from realformer_nmt.comparison.grid.cell import Named, digest, place
from realformer_nmt.comparison.records.cell_files import CellFiles
from realformer_nmt.comparison.running import status
from realformer_nmt.protocols.run_files import CURVES

GRID = 'families = ["{family}"]\nlayers = ["6"]\nprotocol = "own.toml"\n'


def noted(folder: Path, family: str) -> bool:
    """Write the record of a cell that this very grid began, wherever its name leads; return whether it is read."""
    grid = folder / "grid.toml"
    grid.write_text(GRID.format(family=family))
    cell = folder / "runs" / "cells" / f"{family}-6-s1"
    cell.mkdir(parents=True)
    grid_digest = digest(grid.read_text(), folder, "own.toml")
    checksummed_json.write(
        cell / "cell.json", {"state": "done", "sessions": [], "evidence": None, "asked": grid_digest}
    )
    return status.cells_by_records(grid, folder / "runs") is not None


def test_a_name_that_leaves_the_folder_is_not_followed(tmp_path: Path) -> None:
    assert noted(tmp_path, "admin")
    assert not noted(tmp_path, "../../elsewhere")


@pytest.mark.parametrize("record", ["train.json", "run.json"])
def test_a_cell_that_is_done_and_lacks_a_record_is_damaged(tmp_path: Path, record: str) -> None:
    assert noted(tmp_path, "admin")
    cell = place(tmp_path / "runs", Named("admin", "6", 1))
    for name in ("train.json", "run.json"):
        checksummed_json.write(cell.folder / name, {"made_from": {}, "outputs": {}})
    assert CellFiles(cell).state == "done"
    (cell.folder / record).unlink()
    assert (CellFiles(cell).state, CellFiles(cell).evidence) == ("damaged", f"{record} is gone")
    assert f"{record} is gone" in status.table([CellFiles(cell)])


@pytest.mark.parametrize("name", ["run.json", "run-valid.json"])
def test_a_cell_that_is_done_and_lacks_the_scores_of_one_test_set_is_damaged(tmp_path: Path, name: str) -> None:
    cell = place(tmp_path, Named("admin", "6", 1))
    record = {"state": "done", "sessions": [], "scores": ["run.json", "run-valid.json"]}
    checksummed_json.write(cell.record_file, record)
    for file in ("train.json", "run.json", "run-valid.json", "run-of_elsewhere.json"):
        checksummed_json.write(cell.folder / file, {"made_from": {}, "outputs": {}})
    assert CellFiles(cell).state == "done"
    (cell.folder / name).unlink()
    assert (CellFiles(cell).state, CellFiles(cell).evidence) == ("damaged", f"{name} is gone")


@pytest.mark.parametrize(
    ("folder", "scores"),  # older records name none
    [("translation", {}), ("translation-valid", {"scores": ["run.json", "run-valid.json"]})],
)
def test_a_cell_that_is_done_and_lacks_a_translation_is_damaged(
    folder: str, scores: dict[str, list[str]], tmp_path: Path
) -> None:
    """A report would quote it. The scores of other tasks are of none."""
    cell = place(tmp_path, Named("admin", "6", 1))
    checksummed_json.write(cell.record_file, {"state": "done", "sessions": [], **scores})
    checksummed_json.write(cell.folder / "train.json", {"made_from": {}, "outputs": {}})
    for subset in ("", "-valid"):
        translation = cell.folder / f"translation{subset}" / "translation.json"
        checksummed_json.write(translation, {"made_from": {}, "outputs": {}})
        inputs = {"translation.json": {"sha256": hashlib.sha256(translation.read_bytes()).hexdigest()}}
        checksummed_json.write(cell.folder / f"run{subset}.json", {"made_from": {"inputs": inputs}, "outputs": {}})
    assert CellFiles(cell).state == "done"
    shutil.rmtree(cell.folder / folder)
    assert (CellFiles(cell).state, CellFiles(cell).evidence) == ("damaged", f"{folder}/translation.json is gone")
    for run in cell.folder.glob("run*.json"):
        checksummed_json.write(run, {"made_from": {}, "outputs": {}})
    assert CellFiles(cell).state == "done"


def test_a_line_that_is_no_point_of_a_curve_damages_its_cell_alone(tmp_path: Path) -> None:
    cells = [CellFiles(place(tmp_path, Named(family, "6", 1))) for family in ("admin", "post_ln")]
    for files, loss in zip(cells, ("low", "5.0"), strict=True):
        files.cell.folder.mkdir(parents=True)
        (files.cell.folder / CURVES).write_text(f'{{"num_updates": "20", "loss": "{loss}"}}\n')
    damaged, whole = status.table(cells).splitlines()[2:]
    assert damaged.split()[:2] == ["admin-6-s1", "damaged"]
    assert "admin-6-s1/curves.jsonl has an unexpected format" in damaged
    assert whole.split() == ["post_ln-6-s1", "waiting", "20", "5.00"]


@pytest.mark.parametrize(("validated", "shown"), [(64, "64"), (40, "500")])
def test_a_training_that_patience_ended_shows_its_own_end(tmp_path: Path, validated: int, shown: str) -> None:
    files = CellFiles(place(tmp_path, Named("admin", "6", 1)))
    checksummed_json.write(files.cell.folder / "train.json", {"updates": 500, "complete": True})
    points = [{"num_updates": "60", "loss": "5.0"}, {"valid_num_updates": validated, "valid_loss": "5.0"}]
    (files.cell.folder / CURVES).write_text("".join(f"{json.dumps(point)}\n" for point in points))
    (row,) = status.table([files]).splitlines()[2:]
    assert row.split() == ["admin-6-s1", "waiting", shown, "500", "5.00"]


@pytest.mark.timeout(20)
def test_a_protocol_that_is_a_pipe_or_no_text_is_left_to_its_reader(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "own.toml")
    piped = digest("", tmp_path, "own.toml")
    (tmp_path / "own.toml").unlink()
    (tmp_path / "own.toml").write_bytes(b"\xff")
    assert digest("", tmp_path, "own.toml") != piped
