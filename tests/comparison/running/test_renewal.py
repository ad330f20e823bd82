"""Results of a cell that cannot be kept: what is set aside, what stays, and what is made again."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from grids import comparisons
from grids.comparisons import DONE
from grids.grid_cells import changed_grid

from realformer_nmt.cli import main
from realformer_nmt.common.files import json_records
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.running.renewal import renew


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("\ndropout = 0.0", "\ndropout = 0.4"), {"before-1"}),
        (("average = 1", "average = 2"), {"train.json", "average.pt", "checkpoints"}),
        (("judged_after = 150", "judged_after = 151"), {"train.json", "average.pt.json", "run.json"}),
    ],
)
def test_what_is_made_again_leaves_nothing_of_before_in_its_way(
    root: Path, cell_folder: Path, change: tuple[str, str], expected: set[str]
) -> None:
    _, cells = changed_grid(root, change)
    renew(CellState(cells[DONE[0]]))
    assert CellState(cells[DONE[0]]).differences == []
    names = {path.name for path in cell_folder.iterdir()}
    assert expected <= names
    assert "cell.json" not in names
    assert ("run.json" in names) == ("run.json" in expected)
    assert ("checkpoints" in names) == ("average.pt" in names) == ("before-1" not in expected)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-40])


def translate_again(file: Path) -> None:
    """A translation by hand into the cell's folder takes another time: it is another record."""
    record = json_records.read(file, "")
    json_records.write_sealed(file, {**record, "seconds": 1e9})


@pytest.mark.parametrize(
    ("name", "change"),
    [("run-valid.json", cut), ("translation/translation.json", cut), ("translation/translation.json", translate_again)],
)
def test_scores_that_cannot_be_used_do_not_cost_the_training(
    root: Path, cell_folder: Path, name: str, change: Callable[[Path], None]
) -> None:
    _, cells = changed_grid(root)
    training = {file: file.read_bytes() for file in [*cell_folder.glob("*.pt*"), *cell_folder.glob("*.jsonl")]}
    change(cell_folder / name)
    state = CellState(cells[DONE[0]])
    assert (state.state == "damaged") == (change is cut)
    assert state.differences
    renew(state)
    assert {file: file.read_bytes() for file in training if file.is_file()} == training
    assert (cell_folder / "train.json").is_file()
    assert (cell_folder / "checkpoints").is_dir()
    assert (cell_folder / "run.json").is_file() == (name == "run-valid.json")
    again = CellState(cells[DONE[0]])
    assert [again.statuses[name].done for name in ("train", "average")] == [True, True]
    assert again.differences == []
    texts = (cell_folder / "translation").glob("hypotheses.*")  # which the command writes again where it has to
    is_whole = (name, change) != ("translation/translation.json", cut)
    assert again.cell.scorings[0].request.stage().is_up_to_date(False, *texts) == is_whole


def test_a_translation_that_was_removed_is_made_again_with_its_scores_alone(
    root: Path, cell_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report is written before, too; the other records stay as they are."""
    before = json.loads((cell_folder / "run.json").read_text())["scores"]
    rest = [cell_folder / other for other in ("train.json", "average.pt.json", "run-valid.json")]
    times = [file.stat().st_mtime_ns for file in rest]
    shutil.rmtree(cell_folder / "translation")
    assert CellState(changed_grid(root)[1][DONE[0]]).differences == []
    command = ["compare", str(root / "grid.toml"), "--folder", str(root / "runs"), "--gpus", "0"]
    assert main([*command, "--report"]) == 0
    assert comparisons.by_name(comparisons.results(root / "runs"))[DONE[0]]["state"] == "damaged"
    assert main(command) == 0, capsys.readouterr().err
    assert comparisons.by_name(comparisons.results(root / "runs"))[DONE[0]]["state"] == "done"
    assert json.loads((cell_folder / "run.json").read_text())["scores"] == before
    assert [file.stat().st_mtime_ns for file in rest] == times
