"""A plan parses a training's flags and reads its data-bin once, before the training starts."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fairseq import options, tasks
from grids import comparisons
from grids.grid_cells import cells_of

from realformer_nmt.comparison.grid.grid import load
from realformer_nmt.comparison.running import plan
from realformer_nmt.protocols.running import training
from realformer_nmt.protocols.running.planned_training import PlannedTraining


def test_a_plan_parses_flags_and_reads_the_data_bin_once_per_training(
    tmp_path: Path, toy_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: Counter[str] = Counter()
    count(monkeypatch, options, "get_training_parser", calls)
    count(monkeypatch, tasks, "setup_task", calls)
    trainings = [cell.train.request for cell in cells(tmp_path, toy_corpus)]
    for request in trainings:
        planned = PlannedTraining(request)
        training.check_planned(planned, ["valid"])
        plan.cost(planned)
        planned.command()
    assert calls == dict.fromkeys(("get_training_parser", "setup_task"), len(trainings))


def test_a_plan_builds_no_beam_search(tmp_path: Path, toy_corpus: Path) -> None:
    planned = PlannedTraining(cells(tmp_path, toy_corpus)[0].train.request)
    planned.task.build_model(planned.cfg.model)
    assert not hasattr(planned.task, "sequence_generator")


def test_a_record_has_the_step_and_the_epochs_that_flags_of_the_user_ask_for(tmp_path: Path, toy_corpus: Path) -> None:
    request = cells(tmp_path, toy_corpus)[0].train.request
    flags = ("--max-tokens", "300", "--update-freq", "3", "--max-epoch", "7")
    record = training.summary(PlannedTraining(replace(request, flags=flags)))
    assert (record.tokens_a_step, record.epochs) == (300 * 3, 7)


def cells(folder: Path, corpus: Path) -> list[Any]:
    return cells_of(load(comparisons.write_grid(folder, corpus)), folder)


def count(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, calls: Counter[str]) -> None:
    original = getattr(module, name)

    def counted(*args: Any, **kwargs: Any) -> Any:
        calls[name] += 1
        return original(*args, **kwargs)

    monkeypatch.setattr(module, name, counted)
