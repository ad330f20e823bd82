"""`realformer-nmt compare`: interrupted, resumed, with a training killed, and the results of it."""

import csv
import hashlib
import json
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
from grids import comparisons
from grids.comparisons import DIVERGED, DONE, STUCK
from programs.program import realformer_nmt

from realformer_nmt.cli import main
from realformer_nmt.common.files.folder_lock import locked

CELLS = {*DONE, STUCK, DIVERGED}


@pytest.fixture(scope="module")
def seen(compared: Path) -> dict[str, Any]:
    observations: dict[str, Any] = json.loads((compared / "seen.json").read_text())
    return observations


@pytest.fixture
def record(compared: Path) -> dict[str, Any]:
    return comparisons.results(compared / "runs")


def test_an_interruption_ends_every_process_and_says_so(seen: dict[str, Any]) -> None:
    assert seen["processes"] == {}
    assert seen["interrupted"]["status"] == 1
    assert "interrupted; rerun the same command to resume" in seen["interrupted"]["err"]
    assert "Traceback" not in seen["interrupted"]["err"]


def states(status: str) -> dict[str, str]:
    return {line.split()[0]: line.split()[1] for line in status.splitlines()[2:]}


def test_status_tells_an_interrupted_cell_from_one_that_waits(seen: dict[str, Any]) -> None:
    before, then = states(seen["status"]), states(seen["status_then"])
    assert then == {name: "interrupted" if state == "running" else state for name, state in before.items()}
    assert {"interrupted", "waiting"} <= set(then.values())


def test_status_is_reported_while_cells_run(seen: dict[str, Any]) -> None:
    cell_states = states(seen["status"])
    assert set(cell_states) == CELLS
    assert cell_states[DONE[1]] == "running"  # the deepest first
    assert cell_states[DIVERGED] in ("running", "diverged")
    assert cell_states[DONE[0]] == "waiting"


def test_the_same_command_goes_on_to_the_end(seen: dict[str, Any], record: dict[str, Any]) -> None:
    assert seen["again"]["status"] == 0, seen["again"]["err"]
    cell_states = {name: cell["state"] for name, cell in comparisons.by_name(record).items()}
    assert cell_states == {**dict.fromkeys(DONE, "done"), STUCK: "stuck", DIVERGED: "diverged"}
    assert record["complete"]


def test_a_killed_process_is_a_fault_and_tried_again(compared: Path) -> None:
    notes = [json.loads((compared / "runs" / "cells" / name / "cell.json").read_text()) for name in DONE]
    faults, none = ([fault for session in note["sessions"] for fault in session["faults"]] for note in notes)
    assert none == []
    (fault,) = faults
    assert fault.startswith("train, attempt 1: ended with status")
    assert [bool(session["finished"]) for session in notes[1]["sessions"]] == [False, True]  # interrupted, then not


def test_a_stuck_model_is_stopped_with_its_evidence(record: dict[str, Any]) -> None:
    """At a rate of 0 no loss is below what nothing gives. A training may write more points than it was judged by."""
    cell = comparisons.by_name(record)[STUCK]
    curve = cell["curves"]["train"]
    assert curve[-1]["update"] < 200
    assert curve[-1]["nll_loss"] > cell["unigram_entropy"]
    (last,) = [place for place, point in enumerate(curve) if f"after {point['update']} updates" in cell["evidence"]]
    assert curve[last]["update"] >= 150
    loss = statistics.fmean(point["nll_loss"] for point in curve[last - 4 : last + 1])
    assert cell["evidence"].startswith(f"training loss {loss:.2f} bits a token")
    assert f"{cell['unigram_entropy']:.2f}" in cell["evidence"]


def test_a_diverged_model_has_its_evidence(compared: Path, record: dict[str, Any]) -> None:
    """A learning rate of 1e9 does what it must; what fairseq raises stands in its own note."""
    note = json.loads((compared / "runs" / "cells" / DIVERGED / "checkpoints" / "divergence.json").read_text())
    assert comparisons.by_name(record)[DIVERGED]["evidence"] == f"{note['error']} at update {note['update']}"
    assert note["loss"] == ["nan"]


def test_each_test_set_has_its_table(compared: Path, record: dict[str, Any], toy_corpus: Path) -> None:
    """The table stands in results.json, in the spreadsheet and on the page, with the scores of its own hypotheses."""
    reference = toy_corpus.with_name("valid.tgt").read_text().splitlines()
    (table,) = record["further"]
    assert (table["subset"], table["lines"]) == ("valid", len(reference))
    rows = {f"{row['family']}-{row['depth']}-s1": row["scores"] for row in table["rows"]}
    for name in DONE:
        hypotheses = (compared / "runs/cells" / name / "translation-valid/hypotheses.txt").read_text().splitlines()
        assert rows[name]["bleu"]["mean"] == pytest.approx(sacrebleu.corpus_bleu(hypotheses, [reference]).score)
    assert rows[STUCK] == rows[DIVERGED] == {}
    lines = list(csv.DictReader((compared / "runs/table.csv").open()))
    assert [line["subset"] for line in lines] == ["test"] * 4 + ["valid"] * 4
    means = [float(line["bleu_mean"]) for line in lines if line["subset"] == "valid" and line["bleu_mean"]]
    assert sorted(means) == sorted(rows[name]["bleu"]["mean"] for name in DONE)
    assert f"On valid, {len(reference)} lines" in (compared / "runs/report.html").read_text()


@pytest.mark.parametrize("options", [[], ["--status"], ["--report"]], ids=str)
def test_the_folder_must_be_one_and_not_that_of_a_training(
    options: list[str], toy_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file := tmp_path / "file").write_text("mine")
    (tmp_path / "train.json").touch()
    words = ["compare", str(comparisons.write_grid(tmp_path, toy_corpus)), "--gpus", "0", *options]
    for folder, message in (
        (file / "runs", f"{file} is not a folder: name another one, or remove it"),
        (tmp_path, f"{tmp_path} is the folder of a training, with train.json: name another --folder"),
    ):
        assert main([*words, "--folder", str(folder)]) == 1
        assert capsys.readouterr() == ("", f"realformer-nmt: {message}\n")


@pytest.mark.parametrize("options", [["--jobs", "2"], ["--cell", "pre_ln-1-s1"]])
def test_an_option_that_another_makes_useless_is_refused(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text('families = ["pre_ln"]\nlayers = ["1"]\nprepared = "absent"\n')
    assert main(["compare", str(grid), "--folder", str(tmp_path / "runs"), "--launcher", "slurm", *options]) == 1
    assert "--launcher slurm runs a job for each cell: leave" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_one_cell_runs_beside_a_comparison_that_runs_others(
    toy_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = comparisons.write_grid(tmp_path, toy_corpus)
    grid.write_text(grid.read_text().replace("judged_after = 150", "judged_after = 5"))
    words = ["compare", str(grid), "--folder", str(tmp_path / "runs"), "--gpus", "0", "--cell"]
    with locked(tmp_path / "runs/.lock", "compares in"):
        assert main([*words, STUCK]) == 0
    assert [path.name for path in (tmp_path / "runs/cells").iterdir()] == [STUCK]
    assert json.loads((tmp_path / "runs/cells" / STUCK / "cell.json").read_text())["state"] == "stuck"
    assert not (tmp_path / "runs/results.json").exists()
    assert main([*words, "post_ln-3-s1"]) == 1
    assert "post_ln-1-s1" in capsys.readouterr().err


def test_curves_hold_every_point_once(record: dict[str, Any]) -> None:
    """200 updates, one point in five; eight epochs' validations, though the training was interrupted and killed."""
    for name in DONE:
        curves = comparisons.by_name(record)[name]["curves"]
        assert [point["update"] for point in curves["train"]] == list(range(5, 201, 5))
        updates = [point["update"] for point in curves["valid"]]
        assert updates == sorted(set(updates))
        assert updates[-1] == 200
        assert curves["valid"][-1]["nll_loss"] < curves["valid"][0]["nll_loss"]


def test_the_report_is_there_and_its_table_agrees(compared: Path, record: dict[str, Any], seen: dict[str, Any]) -> None:
    with (compared / "runs" / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["family"], row["depth"]) for row in rows} == {(row["family"], row["depth"]) for row in record["rows"]}
    for name in ("report.html", "table.md", "table.tex"):
        assert "failed (stuck)" in (compared / "runs" / name).read_text()
    page = (compared / "runs/report.html").read_text()
    assert "realformer, post_ln at 1 and 2-1 layers</h1>" in page
    assert "<dd>Every family learns, except realformer at 1 and 2-1 layers" in page
    assert "failed (diverged)" in seen["again"]["out"]


def test_what_is_done_is_not_done_again(root: Path) -> None:
    files = [file for name in CELLS for file in (root / "runs" / "cells" / name).rglob("*") if file.is_file()]
    before = {file: file.stat().st_mtime_ns for file in files if "lock" not in file.name}
    done = realformer_nmt("compare", root / "grid.toml", "--folder", root / "runs", "--gpus", 0)
    assert done.returncode == 0, done.stderr
    assert {file: file.stat().st_mtime_ns for file in before} == before


def test_the_commands_in_the_record_can_be_pasted(compared: Path, record: dict[str, Any], tmp_path: Path) -> None:
    """The score command of a cell, with another output, gives the same scores."""
    cell = comparisons.by_name(record)[DONE[0]]
    command = next(line for line in cell["commands"] if line.startswith("realformer-nmt score"))
    record_path = str(compared / "runs" / "cells" / DONE[0] / "run.json")
    assert record_path in command
    program = f"{sys.executable} -m realformer_nmt.cli"
    pasted = command.replace("realformer-nmt", program).replace(record_path, str(tmp_path / "run.json"))
    subprocess.run(["/bin/bash", "-c", pasted], check=True, capture_output=True, cwd=comparisons.REPOSITORY)
    again = json.loads((tmp_path / "run.json").read_text())["scores"]
    assert again["bleu"]["score"] == cell["scores"]["bleu"]["score"]


def test_translations_from_elsewhere_are_rows_that_were_not_trained_here(compared: Path, toy_corpus: Path) -> None:
    """The reference itself, which the baseline never reaches, and the baseline's own translation."""
    runs = (
        compared.parent / "outside" / "runs"
    )  # as deep in the disk: a record tells where its reference lies from there
    shutil.copytree(compared / "runs", runs)
    reference, baseline = toy_corpus.with_name("test.tgt"), runs / "cells" / DONE[0] / "translation" / "hypotheses.txt"
    named = ["--outside", f"oracle={reference}", "--outside", f"again={baseline}"]
    done = realformer_nmt("compare", compared / "grid.toml", "--folder", runs, "--report", "--gpus", 0, *named)
    assert (done.returncode, done.stderr) == (0, "")
    rows = {(row["name"], row["depth"]): row for row in comparisons.results(runs)["outside"]}
    cheat = "oracle (the reference itself)"
    assert rows.keys() == {(name, depth) for name in (cheat, "again") for depth in ("1", "2-1")}
    lines = [path.read_text().splitlines() for path in (baseline, reference)]
    score = sacrebleu.corpus_bleu(lines[0], [lines[1]]).score
    oracle, again = rows[cheat, "1"], rows["again", "1"]
    assert oracle["scores"]["bleu"]["score"] == pytest.approx(100)
    assert oracle["delta"]["bleu"] == pytest.approx(100 - score)
    assert (again["delta"]["bleu"], again["p"], again["p_holm"]) == (pytest.approx(0), 1.0, 1.0)
    assert oracle["p"] < 0.01 < again["p"]
    assert oracle["sha256"] == hashlib.sha256(reference.read_bytes()).hexdigest()
    for text in (done.stdout, (runs / "table.md").read_text(), (runs / "report.html").read_text()):
        assert "Not trained here" in text
        assert cheat in text
    assert len(comparisons.results(runs)["rows"]) == 4
