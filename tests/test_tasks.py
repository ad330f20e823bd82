"""A task of fairseq is one row of one table: an invented one is known wherever a task is."""

import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from pkgutil import resolve_name

import pytest
from fairseq.models import MODEL_REGISTRY
from fairseq.registry import REGISTRIES
from fairseq.tasks import TASK_REGISTRY
from programs.program import REPOSITORY

from realformer_nmt.evaluation.metrics.metric_table import METRICS, row_figures
from realformer_nmt.tasks import TASKS, TRANSLATION, task_named

PROTOCOL = """
base = "small_bert"
task = "cloze"
[train]
criterion = "cloze_loss"
"cloze-length" = 3
"""
GRID = 'families = ["pre_ln"]\nlayers = ["2"]\ntask = "cloze"\nprotocol = "mine.toml"\nmetric = "masked_accuracy"\n'
INVENTED = """
import dataclasses
from realformer_nmt.tasks import TASKS

TASKS["cloze"] = dataclasses.replace(
    TASKS["masked_lm"], name="cloze", criterion="cloze_loss", flags=("cloze-length",), models=("lstm_lm",), mask_seed=7,
    subset_check="invented:check", language_reader="invented:languages", metrics=("masked_accuracy",), loss="cloze",
)
CHECKED = []

def languages(folder):
    return ()

def check(corpus, subset):
    CHECKED.append((corpus.data, subset))
"""
USER = """
import invented
from pathlib import Path
from types import SimpleNamespace
from fairseq.tasks import TASK_REGISTRY
from fairseq.tasks.masked_lm import MaskedLMTask
from realformer_nmt.checkpoints.files.allowed_components import KNOWN, check_known
from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.compare_request import CompareRequest
from realformer_nmt.comparison.grid import grid as grids
from realformer_nmt.comparison.grid.cells import cells, check_one_task
from realformer_nmt.comparison.grid.scoring import scoring_of
from realformer_nmt.comparison.records.curves import Curves
from realformer_nmt.evaluation.translating import translation_checks as checks
from realformer_nmt.fairseq_patches.checkpoints import resume_checks
from realformer_nmt.fairseq_patches.data import dictionary_checks
from realformer_nmt.fairseq_patches.options import option_ranges
from realformer_nmt.protocols import protocol, settings
from realformer_nmt.evaluation.rows import evaluation_run
from realformer_nmt.evaluation.rows.text_rows import Sequences
from realformer_nmt.comparison.grid.row_scoring import MEASURED

def refused(call, *arguments):
    try:
        call(*arguments)
    except UserError as error:
        return str(error)

mine = protocol.load("mine.toml")
assert (mine.task, mine.train["cloze-length"]) == ("cloze", 3)
data = SimpleNamespace(train_subset="train", valid_subset="valid", combine_valid_subsets=None)
cloze = SimpleNamespace(_name="cloze", data=".")
training = SimpleNamespace(task=cloze, dataset=data, checkpoint={}, common=SimpleNamespace(user_dir=None))
assert settings.inputs(training).keys() == {"dict.txt"}

grid = grids.load(Path("grid.toml"))
check_one_task(grid)
assert scoring_of(grid.task) is MEASURED
request = CompareRequest(grid=Path("grid.toml"), folder=Path("cells"), prepared=Path("data"))
corpus = MEASURED.find(grid, request)
corpus.check_subset("test")
assert invented.CHECKED == [(Path("data"), "test")]
(cell,) = cells(grid, corpus, request, 0)
assert [stage.name for stage in cell.stages] == ["train", "average", "evaluate"]
assert cell.stages[-1].request.mask_seed == 7
(Path("curves.jsonl")).write_text('{"num_updates": 1, "loss": 3, "cloze": 2}\\n')
assert Curves(Path(), "cloze").train[0].nll_loss == 2

assert isinstance(evaluation_run.rows_of("cloze"), Sequences)
state = {"cfg": {"task": {"_name": "cloze"}}}
assert "is of --task cloze, whose models do not translate" in refused(checks.check_translates, Path(), state)

TASK_REGISTRY["cloze"] = MaskedLMTask
assert check_known("task", "cloze") is MaskedLMTask
assert "lstm_lm" in KNOWN["model"]
assert dictionary_checks.TASKS["cloze"] is MaskedLMTask
cfg = SimpleNamespace(task=SimpleNamespace(_name="cloze"), criterion=SimpleNamespace(_name="cross_entropy"))
assert "of --task cloze: pass --criterion cloze_loss" in refused(option_ranges.check_criterion, cfg)
print("known")
"""


@pytest.mark.parametrize("name", TASKS)
def test_whatever_a_row_names_is_there(name: str) -> None:
    task = TASKS[name]
    values = [value for field in fields(task) if isinstance(value := getattr(task, field.name), str)]
    named = [value for value in values if ":" in value]
    assert len(named) >= 4
    for value in named:
        assert resolve_name(value) is not None
    assert TASK_REGISTRY[name] is resolve_name(task.implementation)
    assert set(task.models) <= MODEL_REGISTRY.keys()
    assert task.criterion is None or task.criterion in REGISTRIES["criterion"]["registry"]


def test_each_metric_of_rows_is_of_a_task() -> None:
    assert {name for task in TASKS.values() for name in task.metrics} == {
        name for name, metric in METRICS.items() if metric.figure
    }
    assert list(row_figures("sentence_prediction", numbers=True)) == ["pearson", "spearman"]
    assert not row_figures(None)


def test_any_other_task_is_a_way_to_train_on_pairs() -> None:
    for name in ("translation_multi_simple_epoch", None, ["masked_lm"]):
        assert task_named(name) is TASKS[TRANSLATION]


def test_an_invented_row_is_known_everywhere(tmp_path: Path) -> None:
    files = {"invented.py": INVENTED, "user.py": USER, "mine.toml": PROTOCOL, "grid.toml": GRID, "dict.txt": ""}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    environment = {"PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "user.py"]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "known\n", done.stderr
