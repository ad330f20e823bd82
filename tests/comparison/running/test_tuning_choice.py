"""Some seeds try, the others are trained with what these chose: which cells wait, which are left out."""

import contextlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest
from grids import comparisons
from grids.grid_cells import NoRequest, stub
from programs import commands

from realformer_nmt.cli import main
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import json_records
from realformer_nmt.common.stages.stage import Stage
from realformer_nmt.comparison import compare
from realformer_nmt.comparison.compare_request import CompareRequest
from realformer_nmt.comparison.comparison import Comparison
from realformer_nmt.comparison.grid.cell import Cell, CellStage
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.running import plan, tuning_choice
from reliability.fuzzed_inputs import RUN

SETTINGS = ((0.1, 500), (0.2, 500), (0.1, 1000), (0.2, 1000))  # learning rate, updates
GRID = Grid(
    *("grid", "", Path(), ("pre_ln",), ("6",)),
    seeds=(1, 2, 3),
    axes={"lr": [0.1, 0.2], "updates": [500, 1000]},
    tune=("lr",),
    tune_seeds=(1, 2),
)
SCORES = {**RUN, "scores": {}, "made_from": {}, "outputs": {}}


def cell(folder: Path, lr: float, updates: int, seed: int) -> Cell:
    point = (("lr", lr), ("updates", updates))
    path = folder / f"{lr}-{updates}-{seed}"
    scored = CellStage[Any]("score", NoRequest(), path / "run.json")
    return replace(stub(folder, scored, family="pre_ln", seed=seed), folder=path, point=point)


@pytest.fixture
def cells(tmp_path: Path) -> list[Cell]:
    return [cell(tmp_path, *setting, seed) for setting in SETTINGS for seed in GRID.seeds]


def end(cells: list[Cell], state: str, loss: float | None, **of: float) -> None:
    """The trainings of a setting and seed, with the loss on the validation data."""
    for one in cells:
        if of.items() <= {*one.point, ("seed", one.seed)}:
            one.folder.mkdir()
            json_records.write_sealed(one.folder / "train.json", {"made_from": {}, "outputs": {}})
            json_records.write_sealed(one.record_file, {"state": state, "evidence": None, "sessions": []})
            if loss is not None:
                json_records.write_sealed(one.scores, {**SCORES, "validation": {"nll_loss": loss}})


def needed(cells: list[Cell], grid: Grid = GRID) -> list[Cell]:
    """Return the cells that are needed, by what their folders say now."""
    return [state.cell for state in tuning_choice.needed(grid, [*map(CellState, cells)])]


def ready(cells: list[Cell], grid: Grid = GRID) -> list[Cell]:
    return [state.cell for state in tuning_choice.needed(grid, [*map(CellState, cells)], waiting=False)]


def names(cells: list[Cell]) -> set[str]:
    return {one.name for one in cells}


def test_nothing_is_left_out_before_all_trials_have_ended(cells: list[Cell]) -> None:
    end(cells, "done", 2.0, lr=0.1, updates=500, seed=1)
    end(cells, "done", 2.0, lr=0.1, updates=500, seed=2)
    end(cells, "done", 3.0, lr=0.2, updates=500, seed=1)
    end(cells, "error", None, lr=0.2, updates=500, seed=2)
    assert needed(cells) == cells
    assert names(ready(cells)) == {one.name for one in cells if one.seed < 3}


def test_the_mean_over_the_seeds_that_try_chooses_at_each_place(cells: list[Cell]) -> None:
    """The first seed alone would choose otherwise after 500 updates; after 1,000 the lower loss has a stuck seed."""
    for lr, updates, losses in ((0.1, 500, (2.0, 5.0)), (0.2, 500, (3.0, 3.0)), (0.1, 1000, (4.0, 4.0))):
        for seed, loss in enumerate(losses, 1):
            end(cells, "done", loss, lr=lr, updates=updates, seed=seed)
    end(cells, "done", 1.0, lr=0.2, updates=1000, seed=1)
    end(cells, "stuck", None, lr=0.2, updates=1000, seed=2)
    expected = {one.name for one in cells if one.seed < 3} | {"0.2-500-3", "0.1-1000-3"}
    assert names(needed(cells)) == names(ready(cells)) == expected


@pytest.mark.parametrize("name", ["cell.json", "run.json"])
def test_a_damaged_trial_chooses_nothing(name: str, cells: list[Cell]) -> None:
    """It would be the best."""
    for one in [one for one in cells if one.seed < 3]:
        end([one], "done", dict(one.point)["lr"])
    assert len(needed(cells)) == len(cells) - 2
    damaged = cells[0].folder / name
    damaged.write_text(damaged.read_text().replace("0.1", "0.3").replace("sessions", "session"))
    assert names(needed(cells)) == {one.name for one in cells} - {"0.2-1000-3"}
    assert "0.1-500-3" not in names(ready(cells))
    cells[0].scores.unlink()
    assert "0.1-500-3" not in names(ready(cells))


@dataclass(frozen=True)
class Training:
    """Request of a training that is its record alone."""

    subcommand: ClassVar[str] = "train"
    record: Path
    dropout: float

    def stage(self) -> Stage:
        return Stage("train", self.record, {"dropout": self.dropout}, {})

    def train(self, one: Cell, state: str, loss: float) -> None:
        json_records.write_sealed(self.record, {"made_from": {"settings": {"dropout": self.dropout}}, "outputs": {}})
        json_records.write_sealed(one.record_file, {"state": state, "evidence": None, "sessions": []})
        json_records.write_sealed(one.scores, {**SCORES, "validation": {"nll_loss": loss}})


def with_dropout(one: Cell, dropout: float) -> Cell:
    record = one.folder / "train.json"
    return replace(one, train=CellStage("train", Training(record, dropout), record))


def waves(cells: list[Cell], losses: dict[str, float], fresh: bool, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the differences of the cells of each wave as they are launched; seed 1 of a rate then has this loss."""
    differences = []

    def launch(_request: Any, _comparison: Any, ready: Sequence[Cell]) -> list[str]:
        differences.append([line for state in map(CellState, ready) for line in state.differences])
        for one in ready:
            one.train.request.train(one, "done", losses.get(one.name, 5.0))
        return []

    monkeypatch.setattr(compare, "launch", launch)
    monkeypatch.setattr(plan, "check_trainings", lambda _states: None)  # these have no flags of fairseq
    grid = replace(GRID, seeds=(1, 2), axes={"lr": [0.1, 0.2], "updates": [500]}, tune_seeds=(1,))
    request = CompareRequest(grid=Path("grid.toml"), folder=cells[0].data, fresh=fresh)
    compare.train_and_score(request, Comparison(grid, cast(Any, None), cells, cells, 0))
    return differences


def test_a_cell_that_a_new_choice_needs_is_made_again_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second rate is the best with another dropout; its other seed was trained with the dropout before."""
    cells = [cell(tmp_path, rate, 500, seed) for rate in (0.1, 0.2) for seed in (1, 2)]
    for one, loss in zip(cells, (1.0, 1.0, 2.0, 2.0), strict=True):
        with_dropout(one, 0.1).train.request.train(one, "diverged" if one.name == "0.2-500-2" else "done", loss)
    now = [with_dropout(one, 0.3) for one in cells]
    assert waves(now, {"0.1-500-1": 4.0, "0.2-500-1": 3.0}, True, monkeypatch) == [[], []]
    assert CellState(now[3]).differences == []
    assert (now[3].folder / "before-1").is_dir()


def test_without_fresh_a_cell_that_a_new_choice_needs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [with_dropout(cell(tmp_path, rate, 500, seed), 0.1) for rate in (0.1, 0.2) for seed in (1, 2)]
    for one, loss in zip(cells, (1.0, 1.0, 2.0, 2.0), strict=True):
        one.train.request.train(one, "done", loss)
    cells[3] = with_dropout(cells[3], 0.3)
    with pytest.raises(UserError, match="1 of 1 cells were made with other settings or files, listed above: pass --fr"):
        waves(cells, {"0.1-500-1": 4.0, "0.2-500-1": 3.0}, False, monkeypatch)
    assert "0.2-500-2 was made with other settings or files: train: dropout was 0.1, is now 0.3" in (
        capsys.readouterr().err
    )
    assert CellState(cells[3]).state == "done"


def test_compare_trains_further_seeds_with_what_was_chosen(tmp_path: Path, toy_corpus: Path) -> None:
    """One learning rate is too small to learn anything; three cells are trained: 21 seconds."""
    text = comparisons.GRID.format(data=toy_corpus, diverging="")
    plain = text.partition("[[override]]")[0].replace("lr = 1e-2\n", "").replace('"realformer", ', "")
    grid_text = plain.replace(
        'layers = ["1", "2-1"]', 'layers = ["1"]\nseeds = [1, 2]\ntune = ["lr"]\ntune_seeds = [1]'
    )
    grid, folder = tmp_path / "grid.toml", tmp_path / "runs"
    grid_text = grid_text.replace("updates = 200", "updates = 120").replace("judged_after = 150", "margin = 0.1")
    grid.write_text(grid_text + "\n[axes]\nlr = [1e-7, 1e-2]\n")
    with contextlib.redirect_stdout(io.StringIO()) as output:
        assert main(["compare", str(grid), "--folder", str(folder), "--gpus", "0", "--plan"]) == 0
    assert "2 of them wait for a choice of lr: only the chosen are trained\n" in output.getvalue()
    done = commands.run([*commands.OURS, "compare", str(grid), "--folder", str(folder), "--gpus", "0", "--jobs", "2"])
    assert done.returncode == 0, done.stderr
    trained = {"post_ln-1-lr1e-07-s1", "post_ln-1-lr0.01-s1", "post_ln-1-lr0.01-s2"}
    assert {path.name for path in (folder / "cells").iterdir()} == trained
    record = comparisons.results(folder)
    assert {one["name"] for one in record["cells"]} == trained
    assert record["complete"]
    (row,) = record["tuned"]["rows"]
    assert (row["axes"], row["seeds"], row["tried"]) == ({"lr": 0.01}, 2, 2)
    with contextlib.redirect_stdout(io.StringIO()) as output:  # within this process
        assert main(["compare", str(grid), "--folder", str(folder), "--gpus", "0", "--status"]) == 0
    assert {line.split()[0] for line in output.getvalue().splitlines()[2:]} == trained
