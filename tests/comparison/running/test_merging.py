"""Cells of two folders in one report, and what is refused: another grid's, two trainings of one cell."""

import shutil
import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest
from grids import comparisons
from grids.comparisons import DIVERGED, DONE, STUCK

from realformer_nmt.cli import main
from realformer_nmt.common.files import json_records
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.comparison.running import merging

HALVES = {"here": (DONE[0], STUCK), "there": (DONE[0], DONE[1], DIVERGED)}


@pytest.fixture
def halves(root: Path) -> dict[str, Path]:
    """Copy each half of the cells beside their folder, since run.json names the reference relative to itself."""
    folders = {}
    for half, names in HALVES.items():
        folders[half] = Path(tempfile.mkdtemp(prefix=half, dir=root))  # another process may have its own there
        for name in names:
            shutil.copytree(root / "runs/cells" / name, folders[half] / "cells" / name)
    return folders


def merge(root: Path, halves: dict[str, Path], grid: str = "grid.toml", *options: str) -> int:
    folders = [str(halves[half]) for half in ("here", "there")]
    words = ["compare", str(root / grid), "--folder", folders[0], "--merge", folders[1], "--gpus", "0", *options]
    return main(words)


@pytest.mark.parametrize("killed", [False, True])
def test_two_halves_make_the_table_of_the_whole(root: Path, halves: dict[str, Path], killed: bool) -> None:
    """The same command goes on where it was killed: after its copies and before its report."""
    whole = comparisons.results(root / "runs")
    note = halves["here"] / "cells" / DONE[0] / "cell.json"  # a cell that both have may be scored further in one
    json_records.write_sealed(note, {**json_records.read(note, ""), "sessions": []})
    if killed:
        shutil.copytree(halves["there"] / "cells", halves["here"] / "cells", dirs_exist_ok=True)
        shutil.rmtree(halves["here"] / "cells" / DONE[1] / "checkpoints")
    assert merge(root, halves) == 0
    merged = comparisons.results(halves["here"])
    assert merged["complete"]
    for part in ("rows", "further", "examples", "overrides"):
        assert merged[part] == whole[part]
    cell = halves["here"] / "cells" / DONE[1]
    assert not list(cell.rglob("checkpoint*.pt"))
    assert sorted(path.name for path in (halves["here"] / "cells").iterdir()) == sorted({*DONE, STUCK, DIVERGED})


def refused(root: Path, halves: dict[str, Path], capsys: pytest.CaptureFixture[str], grid: str = "grid.toml") -> str:
    before = sorted(path.name for path in (halves["here"] / "cells").iterdir())
    assert merge(root, halves, grid, "--only", "post_ln") == 1  # which has the two that are DONE
    assert sorted(path.name for path in (halves["here"] / "cells").iterdir()) == before
    return capsys.readouterr().err


def test_two_trainings_of_one_cell_are_refused(
    root: Path, halves: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    cell = halves["there"] / "cells" / DONE[0]
    training = cell / "train.json"
    json_records.write_sealed(training, {**json_records.read(training, ""), "wall_clock_hours": 9.0})
    for record in cell.glob("run*.json"):
        scores: dict[str, Any] = json_records.read(record, "")
        scores["made_from"]["inputs"]["train.json"] |= {"sha256": sha256(training), "modified": 0}
        json_records.write_sealed(record, scores)
    message = refused(root, halves, capsys)
    assert "are two trainings of one cell" in message
    assert all(str(halves[half] / "cells" / DONE[0]) in message for half in HALVES)


@pytest.mark.parametrize(
    ("budget", "difference"),
    [
        ('max-tokens = 512\nprecision = "fp16"', "train: dropout was 0.0, is now 0.4"),  # no GPU to train so is here
        ("max-tokens = 500", "train: 512 tokens a step are not 1 GPUs x 500 tokens"),
    ],
)
def test_cells_of_another_grid_are_refused(
    root: Path, halves: dict[str, Path], budget: str, difference: str, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = (root / "grid.toml").read_text().replace("\ndropout = 0.0", "\ndropout = 0.4")
    (root / "dropout.toml").write_text(grid.replace("max-tokens = 512", budget))
    assert difference in refused(root, halves, capsys, "dropout.toml")


def test_what_has_begun_here_is_not_written_over(
    root: Path, halves: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (halves["here"] / "cells" / DONE[1]).mkdir()
    assert f"{DONE[1]} is unfinished" in refused(root, halves, capsys)


@pytest.mark.parametrize("name", ["run.json", "train.json"])
def test_an_incomplete_copy_is_refused(
    name: str, root: Path, halves: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    cell = halves["there"] / "cells" / DONE[1]
    (cell / name).unlink()
    assert f"{cell} is damaged: {name} is gone; copy the complete folder" in refused(root, halves, capsys)


def test_a_folder_without_finished_cells_is_refused(
    root: Path, halves: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(halves["there"] / "cells")
    assert f"{halves['there']}: no cell of the grid is finished there" in refused(root, halves, capsys)


def test_of_a_cell_its_own_files_alone_are_copied(tmp_path: Path) -> None:
    cell, secret = tmp_path / "cell", tmp_path / "secret"
    (cell / "tensorboard").mkdir(parents=True)
    for file in (secret, cell / "run.json", cell / "tensorboard/events", cell / ".hidden"):
        file.write_text("content")
    (cell / "run.json").chmod(0o4755)
    (cell / "link").symlink_to(secret)
    (cell / "tensorboard/folder").symlink_to(tmp_path)
    merging.copy(cell, tmp_path / "merged")
    paths = {str(path.relative_to(tmp_path / "merged")) for path in (tmp_path / "merged").rglob("*")}
    assert paths == {"run.json", "tensorboard", "tensorboard/events"}
    assert not (tmp_path / "merged/run.json").stat().st_mode & (stat.S_ISUID | stat.S_IXUSR)
