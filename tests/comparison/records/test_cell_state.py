"""Finished cells under a grid that changed, a corpus that was swapped, and records that were edited."""

import json
import re
import shutil
from pathlib import Path

import pytest
from grids import comparisons
from grids.comparisons import DIVERGED, DONE, STUCK
from grids.grid_cells import cells_of, changed_grid, corpus_of

from realformer_nmt.cli import main
from realformer_nmt.comparison.grid.grid import load
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.results import gather
from realformer_nmt.comparison.results.results_file import Results
from realformer_nmt.comparison.running.cell_run import run


def test_what_the_grid_made_fits_it(root: Path) -> None:
    _, cells = changed_grid(root)
    assert {name: CellState(cell).differences for name, cell in cells.items()} == {name: [] for name in cells}
    assert set(cells) == {*DONE, STUCK, DIVERGED}


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        (("\ndropout = 0.0", "\ndropout = 0.4"), "train: dropout was 0.0, is now 0.4"),
        (("average = 1", "average = 2"), "average: last was 1, is now 2"),
        (("judged_after = 150", "judged_after = 151"), "judged_after was 150, is now 151"),
    ],
)
def test_another_grid_is_refused_before_anything_starts(
    root: Path, change: tuple[str, str], difference: str, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {file: file.stat().st_mtime_ns for file in (root / "runs/cells").rglob("*") if file.is_file()}
    grid, _ = changed_grid(root, change)
    words = ["compare", str(grid), "--folder", str(root / "runs"), "--gpus", "0", "--only", "post_ln"]
    assert main(words) == 1
    error = capsys.readouterr().err
    (line,) = [line for line in error.splitlines() if "made with other settings or files: " in line]
    assert line.startswith(f"{', '.join(DONE)} were made with")
    assert difference in line
    assert "pass --fresh to redo them" in error
    assert {file: file.stat().st_mtime_ns for file in files} == files


def test_status_and_report_say_so_and_print_what_was_run(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid, _ = changed_grid(root, ("\ndropout = 0.0", "\ndropout = 0.4"))
    folder = ["--folder", str(root / "runs"), "--gpus", "0"]
    assert main(["compare", str(grid), *folder, "--status"]) == 0
    assert capsys.readouterr().out.count("made with other settings or files; train: dropout was 0.0, is now 0.4") == 4
    assert main(["compare", str(grid), *folder, "--report"]) == 0
    record = comparisons.results(root / "runs")
    assert {cell["settings"]["dropout"] for cell in record["cells"]} == {0.0}
    assert all("train: dropout was 0.0, is now 0.4" in cell["differences"] for cell in record["cells"])
    assert any(line.startswith("lr [0.0]: realformer-1-s1 (the others: [0.01])") for line in record["overrides"])
    assert main(["compare", str(root / "grid.toml"), *folder, "--report"]) == 0
    assert not any(cell["differences"] for cell in comparisons.results(root / "runs")["cells"])


def test_another_corpus_is_named_file_by_file(root: Path, toy_corpus: Path, tmp_path: Path) -> None:
    shutil.copytree(toy_corpus.parent, tmp_path / "toy")
    swapped = (str(toy_corpus), str(tmp_path / "toy/data-bin"))
    _, cells = changed_grid(root, swapped)
    assert CellState(cells[DONE[0]]).differences == []  # the same contents elsewhere
    words = (tmp_path / "toy/data-bin/dict.src.txt").read_text().splitlines(keepends=True)
    (tmp_path / "toy/data-bin/dict.src.txt").write_text("".join([words[1], words[0], *words[2:]]))
    (tmp_path / "toy/test.tgt").write_text("another reference\n")
    differences = CellState(changed_grid(root, swapped)[1][DONE[0]]).differences
    assert "train: dict.src.txt is another file" in differences


def test_replaced_files_are_named_stage_by_stage(root: Path, cell_folder: Path) -> None:
    for name in ("checkpoints/checkpoint_last.pt", "translation/hypotheses.txt"):
        (cell_folder / name).write_bytes(b"b")
    _, cells = changed_grid(root)
    assert CellState(cells[DONE[0]]).differences == [
        "train: checkpoints/checkpoint_last.pt has changed since it was written"
    ]


def test_models_that_were_removed_to_save_room_are_no_difference(root: Path, cell_folder: Path) -> None:
    shutil.rmtree(cell_folder / "checkpoints")
    (cell_folder / "average.pt").unlink()
    (cell_folder / "before-1").mkdir()
    (cell_folder / "before-1/checkpoint1.pt").touch()  # of a training before --fresh
    state = CellState(changed_grid(root)[1][DONE[0]])
    assert state.differences == []
    assert state.is_finished


def test_more_states_than_a_finished_training_has_kept_are_refused_before_anything_is_made_again(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, _ = changed_grid(root, ("average = 1", "average = 90"))
    assert main(["compare", str(file), "--folder", str(root / "runs"), "--gpus", "0", "--plan"]) == 1
    stderr = capsys.readouterr().err
    assert all(f"{name}: asked for 90 epoch checkpoints, found " in stderr for name in DONE)


@pytest.mark.parametrize(
    ("name", "removed"),
    [("cell.json", None), ("train.json", None), ("average.pt.json", "cell.json")],  # without it the cell has not ended
)
def test_a_cell_whose_record_was_edited_is_damaged_and_the_others_are_reported(
    root: Path, cell_folder: Path, name: str, removed: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    (cell_folder / (removed or name)).unlink()
    (cell_folder / name).write_text('{"state": "\\u001b[2J"}')
    assert main(["compare", str(root / "grid.toml"), "--folder", str(root / "runs"), "--status", "--gpus", "0"]) == 0
    states = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert re.search(rf"damaged .*{re.escape(name)} has no seal: it is no record of this package", states[DONE[0]])
    assert states[DONE[1]].split()[1] == "done"
    results = report(root)
    cell_states = {cell.name: cell.state for cell in results.cells}
    assert cell_states == {DONE[0]: "damaged", DONE[1]: "done", STUCK: "stuck", DIVERGED: "diverged"}
    (row,) = [row for row in results.rows if row.family == "post_ln" and row.depth == "1"]
    assert row.scores == {}


def report(root: Path) -> Results:
    grid = load(root / "grid.toml")
    return gather.gather(grid, corpus_of(grid, root / "runs"), [*map(CellState, cells_of(grid, root / "runs"))], [])


def test_a_stuck_cell_keeps_its_verdict_when_its_averaging_fails(root: Path, cell_folder: Path) -> None:
    """No model of these letters gets 100 bits below the unigram entropy, and there are no checkpoints to average."""
    failing = ("judged_after = 150\nstop_early = true", "judged_after = 150\nmargin = 100.0")
    _, cells = changed_grid(root, failing, ("layers = [", "retries = 0\nlayers = ["))
    shutil.rmtree(cell_folder / "checkpoints")
    for name in ("cell.json", "average.pt", "average.pt.json"):
        (cell_folder / name).unlink()
    states = [progress.state for progress in run(cells[DONE[0]], {})]
    assert states[-1] == "stuck, but the loss still falls"
    note = json.loads((cell_folder / "cell.json").read_text())
    assert note["state"] == "stuck"
    assert "training loss" in note["evidence"]
    assert "average ended with status 1" in note["evidence"]


def test_scores_of_another_cell_are_refused_by_name(root: Path, cell_folder: Path) -> None:
    shutil.copyfile(cell_folder.with_name(DONE[1]) / "run.json", cell_folder / "run.json")
    assert "score: train.json is another file" in CellState(changed_grid(root)[1][DONE[0]]).differences
