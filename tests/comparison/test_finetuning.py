"""Comparisons of models finetuned to tell classes, numbers and answers, and of models that fill in spans."""

import json
import re
import shutil
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from fixture_types import Once
from grids import comparisons, text_comparisons
from grids.grid_cells import cells_of
from grids.text_comparisons import rows_of, run, run_of, words

from realformer_nmt.cli import main
from realformer_nmt.comparison.grid import row_scoring
from realformer_nmt.comparison.grid.grid import load
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.results import summary

GRID = """
task = "{task}"
families = {families}
layers = ["1"]
seeds = {seeds}
protocol = "{protocol}"
subsets = ["valid"]
{more}

[train]
encoder-embed-dim = 32
encoder-ffn-embed-dim = 64
dropout = 0.0
attention-dropout = 0.0
lr = 5e-3
warmup-updates = 5
num-workers = 0
log-interval = 5
{train}

[budget]
updates = {updates}
tokens-a-step = 400
max-tokens = 400
"""
USUAL = {"families": '["pre_ln"]', "seeds": [1], "more": "", "train": "", "updates": 60}
CLASSES = {"task": "sentence_prediction", "families": '["post_ln", "pre_ln"]', "more": 'pretrained = "masked"'}
NUMBERS = {"task": "sentence_prediction", "train": "num-classes = 1\nregression-target = true"}
SPANS = {"task": "span_masked_lm", "updates": 10}
DECODER = "decoder-embed-dim = 32\ndecoder-ffn-embed-dim = 64"
GRIDS = {
    "classes": {**USUAL, **CLASSES, "protocol": "small_sentences", "updates": 10},
    "numbers": {**USUAL, **NUMBERS, "protocol": "small_sentences"},
    "questions": {**USUAL, "task": "question_answering", "protocol": "small_questions", "updates": 60},
    "spans": {**USUAL, **SPANS, "protocol": "small_spans", "train": DECODER},
}


@pytest.fixture(scope="module")
def data(text_corpus: Path, once: Once) -> dict[str, Path]:
    """Data of each grid; the number of a sentence is how often it has an a or a b."""

    def write(folder: Path) -> None:
        (folder / "input0").symlink_to(text_corpus / "input0")
        (folder / "label").mkdir()
        for split in ("train", "valid"):
            lines = (text_corpus / f"{split}.text").read_text().splitlines()
            (folder / "label" / f"{split}.label").write_text(
                "".join(f"{len(re.findall('[ab]', line))}\n" for line in lines)
            )

    numbers = once("sentences_with_numbers", write)
    inner = {"questions": text_corpus / "questions", "spans": text_corpus / "input0"}
    return {"classes": text_corpus, "numbers": numbers, **inner}


@pytest.fixture(scope="module")
def root(once: Once, text_corpus: Path, data: dict[str, Path]) -> Path:
    """Folder with a grid and a folder of each comparison: seven cells, each from its training to its scores."""
    masked = text_comparisons.compared(once, text_corpus / "input0") / "masked_lm"

    def compare(folder: Path) -> None:
        (folder / "masked").symlink_to(masked)
        for name, grid in GRIDS.items():
            (folder / f"{name}.toml").write_text(GRID.format(**grid))
            run(folder, name, data[name])

    return once("compared_tunings", compare)


def cell_of(root: Path, name: str, cell: str = "pre_ln-1-s1") -> tuple[Path, dict[str, Any], dict[str, Any]]:
    """Its folder, its own record and the report's."""
    return *run_of(root, name, cell), comparisons.by_name(comparisons.results(root / name))[cell]


def test_classes_have_scores_of_their_sentences(root: Path, data: dict[str, Path]) -> None:
    folder, record, cell = cell_of(root, "classes")
    targets = rows_of(folder)[:, 2]
    labels = (data["classes"] / "valid.label").read_text().split()
    assert Counter(targets) == dict(enumerate(sorted(Counter(labels).values(), reverse=True)))
    assert (record["unit"], record["lines"], cell["state"], cell["unigram_entropy"]) == ("sentences", 60, "done", None)
    assert cell["curves"]["valid"][-1]["nll_loss"] == pytest.approx(cell["scores"]["valid_loss"]["score"], 0.01)


def test_two_runs_differ_by_their_scores(root: Path) -> None:
    row = next(row for row in comparisons.results(root / "classes")["rows"] if row["family"] == "pre_ln")
    runs = [run_of(root, "classes", f"{name}-1-s1")[0] / "run-valid.json" for name in ("pre_ln", "post_ln")]
    tested = row_scoring.compare(*runs, "matthews", summary.SAMPLES, 1)
    assert 0 < tested.p <= 1
    assert tested.difference == pytest.approx(row["delta"]["matthews"])


def test_each_family_begins_with_its_own_masked_model(root: Path, data: dict[str, Path], tmp_path: Path) -> None:
    root = shutil.copytree(root, tmp_path / "copy")
    grid = load(root / "classes.toml")
    cells = cells_of(grid, root / "classes", prepared=data["classes"])
    for cell in cells:
        masked = root / "masked" / "cells" / cell.name / "average.pt"
        provenance = json.loads((cell.folder / "train.json").read_text())["made_from"]
        assert provenance["settings"]["begun_by"] == "finetune_from_model"
        assert provenance["inputs"]["average.pt"]["sha256"] == sha256(masked.read_bytes()).hexdigest()
        assert CellState(cell).differences == []
    with (root / "masked" / "cells" / cells[0].name / "average.pt").open("ab") as masked_model:
        masked_model.write(b"\0")
    assert [CellState(cell).differences for cell in cells] == [["train: average.pt is another file"], []]


def test_labels_that_change_are_noticed(root: Path, data: dict[str, Path], tmp_path: Path) -> None:
    prepared = shutil.copytree(data["numbers"], tmp_path / "numbers")
    (cell,) = cells_of(load(root / "numbers.toml"), root / "numbers", prepared=prepared)
    assert CellState(cell).differences == []
    labels = prepared / "label" / "train.label"
    labels.write_text(labels.read_text().replace("1", "2", 1))
    assert CellState(cell).differences == ["train: train.label is another file"]


def test_numbers_are_learned(root: Path, data: dict[str, Path]) -> None:
    folder, _, cell = cell_of(root, "numbers")
    numbers = (data["numbers"] / "label" / "valid.label").read_text().split()
    assert rows_of(folder)[:, 2].tolist() == [*map(float, numbers)]
    assert cell["scores"]["pearson"]["score"] > 50
    assert comparisons.results(root / "numbers")["metric"] == "pearson"


def test_spans_are_measured(root: Path) -> None:
    _, record, cell = cell_of(root, "spans")
    assert (record["lines"], cell["state"]) == (60, "done")
    assert cell["scores"]["perplexity"]["score"] > 1


def test_answers_are_learned(root: Path) -> None:
    _, record, cell = cell_of(root, "questions")
    assert record["unit"] == "questions"
    assert cell["scores"]["f1"]["score"] > 20


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("classes", ('pretrained = "masked"', 'metric = "pearson"'), "metric pearson is not one of accuracy, matthews"),
        ("classes", ('["valid"]', '["train", "test"]'), "holds no subset test: there are train, valid"),
        ("classes", ("embed-dim = 32", "embed-dim = 64"), "another model: --encoder-embed-dim was 32 there and is 64"),
        ("questions", ('["valid"]', '["test"]'), "test.json: no such file; give a file in SQuAD's format"),
    ],
)
def test_what_does_not_fit_is_said_before_anything_is_trained(
    name: str,
    change: tuple[str, str],
    message: str,
    root: Path,
    data: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "masked").symlink_to(root / "masked")
    (tmp_path / f"{name}.toml").write_text(GRID.format(**GRIDS[name]).replace(*change))
    assert main(["compare", *map(str, words(tmp_path, name, data[name]))]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not (tmp_path / name / "cells").exists()
