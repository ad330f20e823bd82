"""The commands of a cell in a table are those that it ran, wherever the table is written."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from grids.grid_cells import stub

from realformer_nmt.checkpoints.average import AverageRequest
from realformer_nmt.checkpoints.model_description import ShortcutWeight
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.comparison.grid.cell import CellStage
from realformer_nmt.comparison.grid.cell_requests import commands
from realformer_nmt.comparison.records.curves import CurvePoint
from realformer_nmt.comparison.results.measured_cell import thinned, trained_shortcuts
from realformer_nmt.evaluation.translating.translate import TranslateRequest
from realformer_nmt.protocols.train import TrainRequest


def test_a_report_on_a_cpu_names_the_gpu_of_a_training(tmp_path: Path) -> None:
    train = TrainRequest(data=tmp_path, folder=tmp_path, arch="pre_ln", layers="6", protocol="small", gpus=0)
    average = AverageRequest(inputs=(tmp_path,), output=tmp_path / "average.pt", last=1)
    translate = TranslateRequest(checkpoints=(tmp_path,), output=tmp_path / "translation", cpu=True)
    stages = [CellStage[Any](request.subcommand, request, tmp_path) for request in (train, average, translate)]
    cell = replace(stub(tmp_path, stages[2]), train=stages[0], average=stages[1])
    on_cpu, averaging, decoding = commands(cell)
    on_gpu = commands(cell, TrainRecord(gpus=1).gpus)
    assert "--gpus 0" in on_cpu
    assert on_gpu == [on_cpu.replace("--gpus 0", "--gpus 1"), averaging, decoding.replace(" --cpu", "")]
    assert commands(cell, TrainRecord().gpus) == [on_cpu, averaging, decoding]
    assert "--cpu" in decoding


def test_constants_are_no_shortcuts_to_draw() -> None:
    """Pre-LN's are 1, DeepNorm's a constant for all dimensions; ADMIN's differ in one sub-layer at least."""
    ones = [ShortcutWeight(sublayer=name, mean=1.0, smallest=1.0, largest=1.0) for name in ("self_attn", "ffn")]
    admin = [ones[0], ShortcutWeight(sublayer="ffn", mean=1.04, smallest=1.01, largest=1.06)]
    assert trained_shortcuts(ones) == []
    assert trained_shortcuts(admin) == [ShortcutWeight(sublayer=weight.sublayer, mean=weight.mean) for weight in admin]


@pytest.mark.parametrize(("logged", "updates"), [(1, [1]), (119, [*range(1, 120, 2)])])
def test_a_curve_is_thinned_to_sixty_points_with_both_ends(logged: int, updates: list[int]) -> None:
    curve = thinned([CurvePoint(update=update, loss=3.0, nll_loss=2.0, bleu=5.0) for update in range(1, logged + 1)])
    assert curve == [CurvePoint(update=update, nll_loss=2.0, bleu=5.0) for update in updates]
