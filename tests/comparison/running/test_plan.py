"""The plan's figures against the model that is trained, and its command against a run of it."""

import re
from pathlib import Path

import pytest
import torch
from fairseq.logging import progress_bar
from grids import comparisons
from grids.grid_cells import cells_of
from programs import commands

from realformer_nmt.cli import main
from realformer_nmt.common.files import json_records
from realformer_nmt.comparison.grid.grid import load
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.running import plan
from realformer_nmt.protocols.running.planned_training import PlannedTraining


def test_the_plans_command_trains_a_model_of_the_planned_size(tmp_path: Path, toy_corpus: Path) -> None:
    grid = load(comparisons.write_grid(tmp_path, toy_corpus))
    cells = cells_of(grid, tmp_path)
    cell = next(cell for cell in cells if cell.name == comparisons.DONE[1])
    planned = PlannedTraining(cell.train.request)
    words = planned.command()
    cost = plan.cost(planned)
    assert (cost.updates, cost.tokens_a_step) == (200, 512)
    assert cost.operations == 6 * cost.parameters * 200 * 512
    assert not (tmp_path / "cells").exists()  # a plan writes nothing
    cell.folder.mkdir(parents=True)
    done = commands.run(commands.fairseq("train", *words[1:], "--max-update", 1))
    assert done.returncode == 0, done.stderr
    weights = torch.load(cell.checkpoints / "checkpoint_last.pt", weights_only=True)["model"]
    sizes = {tensor.data_ptr(): tensor.numel() for name, tensor in weights.items() if "version" not in name}
    assert cost.parameters == sum(sizes.values())


def test_hours_follow_the_speed_given(tmp_path: Path, toy_corpus: Path) -> None:
    grid = load(comparisons.write_grid(tmp_path, toy_corpus))
    states = [CellState(cells_of(grid, tmp_path)[0])]
    cost = plan.Cost(parameters=10**9, updates=1000, tokens_a_step=6000)  # 3.6e16 operations
    assert "all: 10.00" in plan.table(states, [cost], 1.0)
    assert "all: 1.00" in plan.table(states, [cost], 10.0)
    assert "a third of this machine's speed in matrix products" in plan.table(states, [cost], None)


def test_a_record_that_cannot_be_read_is_no_obstacle_to_a_plan(tmp_path: Path, toy_corpus: Path) -> None:
    grid = load(comparisons.write_grid(tmp_path, toy_corpus))
    damaged, trained = cells_of(grid, tmp_path)[:2]
    for cell in (damaged, trained):
        cell.folder.mkdir(parents=True)
        json_records.write_sealed(cell.folder / "train.json", {"complete": True, "wall_clock_hours": 10.0})
    (damaged.folder / "train.json").write_text("{")
    cost = plan.Cost(parameters=10**9, updates=1000, tokens_a_step=6000)  # 3.6e16 operations
    text = plan.table([CellState(damaged), CellState(trained)], [cost, cost], None)
    assert re.search(rf"^{damaged.name} +damaged ", text, re.M)
    assert "at 1 TFLOP/s, as the cells that are done" in text


def test_a_grid_of_summaries_has_rouge_scored(tmp_path: Path, toy_corpus: Path) -> None:
    file = comparisons.write_grid(tmp_path, toy_corpus)
    plain = file.read_text()
    for metric, expected in (("bleu", set()), ("rouge_l", {("score", "--rouge"), ("score valid", "--rouge")})):
        file.write_text(f'metric = "{metric}"\n{plain}')
        grid = load(file)
        stages = cells_of(grid, tmp_path)[0].stages
        assert {
            (stage.name, word) for stage in stages for word in stage.request.argv() if word == "--rouge"
        } == expected


@pytest.mark.parametrize(
    ("plan", "budget", "warm_up", "reason", "advice"),
    [
        # the reversals make more than three batches: three updates end inside the first epoch
        ([], "updates = 3\naverage = 2", 1, "2 checkpoints are to be averaged, and 0 whole", "pass --average 1"),
        (["--plan"], "updates = 12", 12, "12 updates end within the warm-up of 12", "train longer"),
    ],
    ids=["average", "warm-up"],
)
def test_a_training_too_short_for_its_grid_is_refused_by_name_before_any_starts(
    tmp_path: Path,
    toy_corpus: Path,
    plan: list[str],
    budget: str,
    warm_up: int,
    reason: str,
    advice: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    short = f'\n[[override]]\nfamily = "post_ln"\n[override.budget]\n{budget}\n'
    grid = comparisons.write_grid(tmp_path, toy_corpus, more=f"{short}[override.train]\nwarmup-updates = {warm_up}\n")
    assert main(["compare", str(grid), "--folder", str(tmp_path / "runs"), "--gpus", "0", *plan]) == 1
    output = capsys.readouterr()
    assert f"{', '.join(comparisons.DONE)}: {reason}" in output.err
    assert advice in output.err
    assert output.err.endswith("; set these options in [budget] or [train] of the grid\n")
    assert not any(name in output.out + output.err for name in (comparisons.STUCK, comparisons.DIVERGED))
    assert not (tmp_path / "runs" / "cells").exists()


def test_a_start_that_is_not_there_is_no_matter_of_options(
    tmp_path: Path, toy_corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = comparisons.write_grid(tmp_path, toy_corpus)
    grid.write_text(f'pretrained = "none.pt"\n{grid.read_text()}')
    assert main(["compare", str(grid), "--folder", str(tmp_path / "runs"), "--gpus", "0", "--plan"]) == 1
    assert capsys.readouterr().err.endswith("names it as the start of this cell: train it first\n")


def test_trackers_that_are_asked_for_log_each_cell(
    tmp_path: Path, toy_corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = comparisons.write_grid(tmp_path, toy_corpus)
    words = ["compare", str(grid), "--folder", str(tmp_path / "runs"), "--gpus", "0", "--plan", "--tensorboard"]
    monkeypatch.setattr(progress_bar, "SummaryWriter", None)
    assert main(words) == 1
    assert "--tensorboard needs a package that is not installed" in capsys.readouterr().err
    monkeypatch.setattr(progress_bar, "SummaryWriter", object())
    assert main(words) == 0
    output = capsys.readouterr().out
    for name in (*comparisons.DONE, comparisons.STUCK, comparisons.DIVERGED):
        assert f"--tensorboard-logdir {tmp_path / 'runs/cells' / name / 'tensorboard'} " in output
