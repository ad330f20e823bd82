"""Comparisons of masked models and language models, whole: scores, tables, and what is refused."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.data import indexed_dataset
from fixture_types import Once
from grids import comparisons, text_comparisons
from grids.text_comparisons import rows_of, run_of, words
from programs.program import realformer_nmt

from realformer_nmt.cli import main
from realformer_nmt.common.files import json_records
from realformer_nmt.comparison.grid import row_scoring
from realformer_nmt.comparison.results import summary


@pytest.fixture(scope="module")
def compared(once: Once, text_corpus: Path) -> Path:
    """Folder with a grid and a folder of each task."""
    return text_comparisons.compared(once, text_corpus / "input0")


@pytest.fixture
def root(compared: Path, tmp_path: Path) -> Path:
    """A copy of it that the test may change."""
    return Path(shutil.copytree(compared, tmp_path / "compared"))


@pytest.mark.parametrize("task", ["masked_lm", "language_modeling"])
def test_a_report_has_the_loss_of_each_model(compared: Path, task: str) -> None:
    _, run = run_of(compared, task, "pre_ln-1-s1")
    cell = comparisons.by_name(comparisons.results(compared / task))["pre_ln-1-s1"]
    assert (cell["state"], cell["settings"]["lines"]) == ("done", 60)
    assert cell["scores"]["valid_loss"]["score"] == pytest.approx(np.log2(run["measures"]["perplexity"]))
    assert cell["curves"]["train"][-1]["nll_loss"] < cell["unigram_entropy"]


def test_a_sequences_loss_is_that_of_a_batch_of_its_own(compared: Path) -> None:
    folder, _ = run_of(compared, "masked_lm", "pre_ln-1-s1")
    (model,), cfg, task = checkpoint_utils.load_model_ensemble_and_task([str(folder / "average.pt")])
    task.load_dataset("valid")
    criterion, text, rows = task.build_criterion(cfg.criterion), task.dataset("valid"), rows_of(folder)
    model.eval()
    text.set_epoch(1)  # which the masks depend on
    assert len(rows) == len(text)
    by_id = {int(text[place]["id"]): place for place in range(len(text))}
    for name in range(0, 60, 7):
        loss, number, _ = criterion(model, text.collater([text[by_id[name]]]))
        assert rows[name, 2] == number
        assert rows[name, 0] == pytest.approx(float(loss) / np.log(2), rel=1e-4)


def test_differences_are_of_the_sequences_both_models_were_measured_on(compared: Path) -> None:
    record = comparisons.results(compared / "masked_lm")
    row = next(row for row in record["rows"] if row["family"] == "pre_ln")
    pre_ln, post_ln = (rows_of(run_of(compared, "masked_lm", f"{name}-1-s1")[0]) for name in ("pre_ln", "post_ln"))
    accuracies = [100 * rows[:, 1].sum() / rows[:, 2].sum() for rows in (pre_ln, post_ln)]
    assert row["delta"]["masked_accuracy"] == pytest.approx(accuracies[0] - accuracies[1])
    runs = [run_of(compared, "masked_lm", f"{name}-1-s1")[0] / "run-valid.json" for name in ("pre_ln", "post_ln")]
    for metric, column in (("masked_accuracy", 1), ("perplexity", 0)):
        tested = row_scoring.compare(*runs, metric, summary.SAMPLES, summary.SEED)
        assert np.sign(tested.difference) == np.sign(pre_ln[:, column].sum() - post_ln[:, column].sum())
    assert record["test"]["metric"] == "masked_accuracy"


def test_a_model_of_another_seed_is_asked_for_the_same_words(compared: Path, text_corpus: Path, tmp_path: Path) -> None:
    folder, run = run_of(compared, "masked_lm", "pre_ln-1-s1")
    state = torch.load(folder / "average.pt", weights_only=False)  # our own
    state["cfg"]["common"]["seed"] = state["cfg"]["task"]["seed"] = 2
    torch.save(state, tmp_path / "of_2.pt")

    def targets(*more: object) -> str:
        output = tmp_path / f"{len(more)}.json"
        words = ("--data", text_corpus / "input0", "--subset", "valid", "--cpu", "--output", output, *more)
        done = realformer_nmt("evaluate", tmp_path / "of_2.pt", *words)
        assert done.returncode == 0, done.stderr
        return str(json.loads(output.read_text())["targets"])

    assert targets("--mask-seed", 1) == run["targets"] != targets()


def test_masked_words_that_are_others_are_not_compared(compared: Path, tmp_path: Path) -> None:
    folder, run = run_of(compared, "masked_lm", "pre_ln-1-s1")
    other = tmp_path / "run.json"
    json_records.write_sealed(
        other, {**{name: value for name, value in run.items() if name != "seal"}, "targets": "others"}
    )
    assert row_scoring.compare(folder / "run-valid.json", other, "masked_accuracy", 10, 1) is None


def test_a_text_without_a_masked_word_has_no_score(
    compared: Path, text_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = run_of(compared, "masked_lm", "pre_ln-1-s1")
    state = checkpoint_utils.load_checkpoint_to_cpu(str(folder / "average.pt"))
    state["cfg"]["task"]["seed"] = 2  # by which one word alone is not masked
    torch.save(state, tmp_path / "model.pt")
    (tmp_path / "dict.txt").write_bytes((text_corpus / "input0/dict.txt").read_bytes())
    builder = indexed_dataset.make_builder(str(tmp_path / "test.bin"), impl="mmap", vocab_size=12)
    builder.add_item(torch.tensor([4, 2]))
    builder.finalize(str(tmp_path / "test.idx"))
    arguments = ("evaluate", tmp_path / "model.pt", "--data", tmp_path, "--cpu", "--output", tmp_path / "test.json")
    assert main([*map(str, arguments)]) == 1
    assert f"{tmp_path} test: no token of it is masked; give a longer text" in capsys.readouterr().err
    assert not (tmp_path / "test.json").exists()


def test_the_report_is_of_this_tasks_metrics(compared: Path) -> None:
    folder = compared / "masked_lm"
    assert (folder / "masked_accuracy_by_depth.svg").is_file()
    assert "| masked accuracy (%) |" in re.sub(" +", " ", (folder / "table.md").read_text())
    page = (folder / "report.html").read_text()
    assert "scored on the 60 sequences of" in page
    assert "Lower perplexity is better" in (compared / "language_modeling" / "table.md").read_text()


def test_a_cell_whose_rows_were_edited_or_removed_is_not_believed(
    root: Path, text_corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [run_of(root, "masked_lm", f"{name}-1-s1")[0] for name in ("post_ln", "pre_ln")]
    tables = [folder / "run-valid.sequences.tsv" for folder in folders]
    tables[0].write_bytes(tables[0].read_bytes().replace(b"\t", b"0\t", 1))
    tables[1].unlink()
    arguments = [*map(str, words(root, "masked_lm", text_corpus / "input0"))]
    assert main(["compare", *arguments, "--status"]) == 0
    output = capsys.readouterr().out
    assert re.search(r"post_ln-1-s1 +damaged .* run-valid\.sequences\.tsv has changed since it was written", output)
    assert re.search(r"pre_ln-1-s1 +damaged .* run-valid\.sequences\.tsv is gone", output)
    assert main(["compare", *arguments, "--report"]) == 0
    record = comparisons.results(root / "masked_lm")
    assert [cell["state"] for cell in record["cells"]] == ["damaged", "damaged"]
    assert [(row["seeds"], row["scores"], row["p"]) for row in record["rows"]] == [(0, {}, None)] * 2


def test_models_for_long_texts_are_a_kind_of_masked_ones(
    compared: Path, text_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pattern has no parameters."""
    _, run = run_of(compared, "masked_lm", "pre_ln-1-s1")
    (tmp_path / "masked_lm.toml").write_text('kind = "etc"\n' + (compared / "masked_lm.toml").read_text())
    assert main(["compare", *map(str, words(tmp_path, "masked_lm", text_corpus / "input0", "--plan"))]) == 0
    output = capsys.readouterr().out
    assert re.search(rf"pre_ln-1-s1 +waiting +{run['parameters']:,} ", output)
    assert "--arch pre_ln --kind etc" in output
    assert "--task masked_lm --arch pre_ln_etc --encoder-layers 1" in output


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"metric": '"bleu"'}, "metric bleu is not one of masked_accuracy, perplexity"),
        ({"layers": '["6-2"]'}, "layers 6-2: this model has one side, the encoder: give one number"),
        ({"task": '"translation"'}, "protocol small_bert is of --task masked_lm, and the grid's task is translation"),
        ({"kind": '"etc"', "families": '["synthesizer_dense"]'}, "there is no synthesizer_dense_etc: families of kind"),
        ({"corpus": '"multi30k_en_de"'}, "corpus is for translations, and the task is masked_lm"),
        ({"prepared": '"x"'}, "says prepared: leave out --prepared DIR"),
        ({"subsets": '["test9"]'}, "holds no subset test9: there are train, valid"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_is_not_for_this_task_is_refused_in_one_line(
    grid: dict[str, str], message: str, text_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = {"task": '"masked_lm"', "families": '["pre_ln"]', "layers": '["1"]', "protocol": '"small_bert"', **grid}
    (tmp_path / "masked_lm.toml").write_text("".join(f"{name} = {value}\n" for name, value in table.items()))
    assert main(["compare", *map(str, words(tmp_path, "masked_lm", text_corpus / "input0"))]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not (tmp_path / "masked_lm" / "cells").exists()
