"""The recipes: from archives on a server to run.json, killed and resumed, printed without being run."""

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from programs.program import REPOSITORY
from recipe_scripts.printed import flags
from recipe_scripts.recipe import FLAGS, RUN, TINY, commands, path_with_program, script
from recipe_scripts.recipe_runs import run

from realformer_nmt.cli import main
from reliability.trainings import kill, start, wait_for

STAGES = ("prepare", "train", "average", "translate", "score")
Scored = Callable[[str], Path]


def result(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((folder / RUN / "run.json").read_text())
    return record


@pytest.mark.parametrize("name", ["wmt14_en_de", pytest.param("wmt14_en_fr", marks=pytest.mark.product)])
def test_a_recipe_goes_from_archives_to_scores(name: str, scored: Scored) -> None:
    folder = scored(name)
    record = result(folder)
    assert record["lines"] == 60
    assert record["protocol"] == "realformer"
    assert record["averaged"] == ["checkpoint2.pt", "checkpoint3.pt"]
    assert (record["arch"], record["training_seed"]) == ("realformer", 1111)
    beam, lenpen = {"wmt14_en_de": (4, 0.6), "wmt14_en_fr": (5, 0.8)}[name]
    assert (record["decoding"]["beam"], record["decoding"]["lenpen"]) == (beam, lenpen)
    assert {"bleu", "chrf", "tokenised_bleu"} <= set(record["scores"])
    assert record["gpu_hours"] == 0
    assert {figure["dataset"] for figure in record["published"]} == {
        {"de": "WMT14 En-De", "fr": "WMT14 En-Fr"}[name[-2:]]
    }
    assert {figure["comparable_with"] for figure in record["published"]} == {None}  # these are not 3,003 lines
    assert {"subset", "loss", "nll_loss", "bleu"} == set(record["validation"])
    assert len({member["sha256"] for member in record["models"][0]["averaged"]}) == 2
    note = json.loads((folder / RUN / "train.json").read_text())
    assert record["wall_clock_hours"] == note["wall_clock_hours"] > 0
    hypotheses = (folder / RUN / "translation/hypotheses.txt").read_bytes()
    assert hypotheses.count(b"\n") == 60
    log = (folder / RUN / "train.log").read_text()
    assert len(set(re.findall(r"valid on 'valid' subset .*\| bleu [\d.]+", log))) == 3


def dry_run(capsys: pytest.CaptureFixture[str], folder: Path, *options: str) -> str:
    """Return what the command of the recipes prints."""
    assert main(["run", "wmt14_en_de", "--folder", str(folder), *TINY, *options, "--dry-run", *FLAGS]) == 0
    return capsys.readouterr().out


def test_several_test_sets_have_folders_and_scores_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = dry_run(capsys, tmp_path, "--fresh", "--subset", "test", "--subset", "test1")
    printed = commands(output, "realformer-nmt")
    assert [words[1] for words in printed] == [*STAGES, *STAGES[3:]]
    translated = [words for words in printed if words[1] == "translate"]
    assert [flags(words).get("subset", "test") for words in translated] == ["test", "test1"]
    outputs = [Path(words[words.index("--output") + 1]).name for words in printed[2:]]
    assert outputs == ["average.pt", "translation", "run.json", "translation-test1", "run-test1.json"]
    assert ["--fresh" in words for words in printed] == [False, *[True] * 6]


def test_killed_while_it_prepares_and_trains_the_result_is_the_same(
    scored: Scored, served: dict[str, Path], program_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stage train has its checkpoint torn besides, so that its first epoch is all that is left.

    Two commands that are killed are no forks, and import torch each: 20 seconds.
    """
    undisturbed, folder, log = scored("wmt14_en_de"), tmp_path / "killed", tmp_path / "log"
    monkeypatch.setenv("PATH", path_with_program(tmp_path / "programs"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    prepare, train = (script("wmt14_en_de", served["wmt14_en_de"], folder, "--stage", stage) for stage in STAGES[:2])
    process = start(prepare, log)
    wait_for((folder / "data/stages/text.json").exists, process, log)
    kill(process)
    assert run(prepare, program_path).returncode == 0
    process = start(train, log)
    wait_for((folder / RUN / "checkpoints/checkpoint_last.pt").exists, process, log)
    os.killpg(process.pid, signal.SIGSTOP)
    busy = run(train, program_path)
    assert (busy.returncode, "another process trains it" in busy.stderr) == (1, True)
    kill(process)
    tear(folder / RUN / "checkpoints")
    done = run(script("wmt14_en_de", served["wmt14_en_de"], folder), program_path)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    output = done.stdout + done.stderr
    assert "checkpoint_last.pt was cut off or damaged: resuming from checkpoint1.pt" in output
    assert re.search(r"Loaded checkpoint .*checkpoint1.pt \(epoch 2 @ \d+ updates\)", output)
    actual, expected = result(folder), result(undisturbed)
    for key in ("scores", "lines", "averaged", "decoding", "parameters", "validation"):
        assert actual[key] == expected[key], key
    for name in ("translation/hypotheses.txt", "translation/hypotheses.tok", "translation/reference.tok"):
        assert (folder / RUN / name).read_bytes() == (undisturbed / RUN / name).read_bytes()
    note = json.loads((folder / RUN / "train.json").read_text())
    assert (note["complete"], len(note["sessions"])) == (True, 2)
    weights = [torch.load(one / RUN / "average.pt", weights_only=False)["model"] for one in (folder, undisturbed)]
    assert weights[0].keys() == weights[1].keys()
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


def tear(checkpoints: Path) -> None:
    for other in [*checkpoints.glob("checkpoint[23].pt"), *checkpoints.glob("checkpoint_best.pt")]:
        other.unlink()
    first = (checkpoints / "checkpoint1.pt").read_bytes()
    (checkpoints / "checkpoint_last.pt").write_bytes(first[: len(first) // 2])


def test_a_dry_run_prints_every_command_and_does_nothing(
    served: dict[str, Path], program_path: str, tmp_path: Path
) -> None:
    words = script("wmt14_en_de", served["wmt14_en_de"], tmp_path / "new", "--dry-run")
    done = run(words, program_path)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "new").exists()
    printed = commands(done.stdout, "realformer-nmt")
    assert [command[1] for command in printed] == list(STAGES)
    run_by_pasting = [line.split()[0] for line in done.stdout.splitlines() if not line.startswith("#")]
    assert run_by_pasting == ["realformer-nmt"] * 5
    assert len(commands(done.stdout, "fairseq-train")) == 1  # in a comment: `realformer-nmt train` runs it
    assert "protocol realformer (He et al. 2021, RealFormer)" in done.stderr
    by_name = {command[1]: command for command in printed}
    assert by_name["average"][2:-1] == [str(tmp_path / "new" / RUN / "checkpoints"), "--last", "2", "--output"]
    assert [by_name["translate"][by_name["translate"].index(flag) + 1] for flag in ("--beam", "--lenpen")] == [
        "4",
        "0.6",
    ]
    assert by_name["train"][-len(FLAGS) :] == FLAGS


@pytest.mark.parametrize(
    ("options", "name", "averaging", "seed"),
    [
        (["--seed", "7"], "realformer-1-realformer-s7", ["--last", "2"], "7"),
        (["--name", "mine", "--seed", "7"], "mine", ["--last", "2"], "7"),
        (["--protocol", "BEST"], "realformer-1-best-s5", ["--best", "2"], "5"),
    ],
)
def test_a_run_has_a_name_and_shares_the_corpus(
    options: list[str], name: str, averaging: list[str], seed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    protocol = tmp_path / "best.toml"
    protocol.write_text('base = "residual"\naverage_of = "best"\naverage = 1\n[train]\nseed = 5\n')
    options = [str(protocol) if word == "BEST" else word for word in options]
    output = dry_run(capsys, tmp_path / "new", *options)
    printed = {words[1]: words for words in commands(output, "realformer-nmt")}
    folder = str(tmp_path / "new" / name)
    assert f"{folder}/checkpoints" in printed["average"]
    assert [*averaging, "--output", f"{folder}/average.pt"] == printed["average"][3:]
    assert printed["train"][2:6] == ["--data", str(tmp_path / "new/data/data-bin"), "--folder", folder]
    (trained,) = commands(output, "fairseq-train")
    assert flags(trained)["seed"] == float(seed)


@pytest.mark.parametrize("stage", ["average", "prepare"])
def test_a_stage_can_be_chosen(stage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = dry_run(capsys, tmp_path, "--stage", stage)
    assert [command[1] for command in commands(output, "realformer-nmt")] == [stage]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--stage", "cook"], "--stage cook is not one of prepare, train, average, translate, score"),
        ([], "missing: --folder DIR --layers N|N-M; --help"),
        (["--layers", "3", "--folder", "x", "--name", "data"], "--name data: allowed is the name of one folder"),
        (["--layers", "3", "--folder", "x", "--", "--seed", "5"], "give --seed N before the --"),
    ],
)
def test_wrong_options_are_refused(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "wmt14_en_de", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_recipe_passes_its_options_and_the_status_on(program_path: str) -> None:
    done = run([str(REPOSITORY / "recipes/multi30k_en_de/run.sh"), "--stage", "cook"], program_path)
    assert (done.returncode, "--stage cook is not one of prepare" in done.stderr) == (2, True)
    done = run([str(REPOSITORY / "recipes/wmt14_en_fr/run.sh"), "--help"], program_path)
    assert (done.returncode, "--stage" in done.stdout) == (0, True)
