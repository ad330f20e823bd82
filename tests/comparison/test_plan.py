"""The plan's figures against the model that is trained, and its command against a run of it."""

import shlex
import subprocess
import sys
from pathlib import Path

import comparisons
import torch

from realformer_nmt.comparison import plan
from realformer_nmt.comparison.cells import cells
from realformer_nmt.comparison.corpus import find
from realformer_nmt.comparison.grid import load


def test_the_plans_command_trains_a_model_of_the_planned_size(tmp_path: Path, toy_corpus: Path) -> None:
    grid = load(comparisons.write_grid(tmp_path, toy_corpus))
    found = cells(grid, find(grid, None, None, tmp_path), tmp_path, 0)
    cell = next(cell for cell in found if cell.name == comparisons.DONE[1])
    words = plan.fairseq_train(cell)
    cost = plan.cost(cell, words)
    assert (cost.updates, cost.tokens_a_step) == (200, 512)
    assert cost.operations == 6 * cost.parameters * 200 * 512
    assert not (tmp_path / "cells").exists()  # a plan writes nothing
    cell.folder.mkdir(parents=True)
    pasted = shlex.join([sys.executable, "-m", "fairseq_cli.train", *words[1:], "--max-update", "1"])
    subprocess.run(["/bin/bash", "-c", pasted], check=True, capture_output=True, env={"OMP_NUM_THREADS": "1"})
    weights = torch.load(cell.checkpoints / "checkpoint_last.pt", weights_only=True)["model"]
    own = {tensor.data_ptr(): tensor.numel() for name, tensor in weights.items() if "version" not in name}
    assert cost.parameters == sum(own.values())


def test_hours_follow_the_speed_given(tmp_path: Path, toy_corpus: Path) -> None:
    grid = load(comparisons.write_grid(tmp_path, toy_corpus))
    found = cells(grid, find(grid, None, None, tmp_path), tmp_path, 0)[:1]
    cost = plan.Cost(parameters=10**9, updates=1000, tokens_a_step=6000)  # 3.6e16 operations
    assert "all: 10.00" in plan.table(found, [cost], 1.0)
    assert "all: 1.00" in plan.table(found, [cost], 10.0)
    assert "a third of this machine's products'" in plan.table(found, [cost], None)
