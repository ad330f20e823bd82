"""`realformer-nmt train` for real: as long as was counted, recorded, on two processes, and where it fails."""

import json
import shlex
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq.data import Dictionary
from programs import commands
from programs.program import realformer_nmt
from recipe_scripts import recipe
from recipe_scripts.printed import dry_run
from recipe_scripts.recipe_runs import environment
from tiny_models import saved

from realformer_nmt.checkpoints import model_in_run
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.cli import main
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.stages.stage import Stage
from realformer_nmt.protocols.command import Machines
from realformer_nmt.protocols.running import training_run
from realformer_nmt.protocols.running.training_run import Training, going_on, set_aside
from realformer_nmt.protocols.running.updates import parse

TINY = ["--gpus", 0, "--tokens-a-step", 1000, "--max-tokens", 500, "--epochs", 3, "--average", 2]
FLAGS = "-- --encoder-embed-dim 16 --decoder-embed-dim 16 --encoder-ffn-embed-dim 32 --decoder-ffn-embed-dim 32"
FLAGS += " --warmup-updates 5 --num-workers 0"


def arguments(data: Path, folder: Path, *options: object) -> list[object]:
    return ["--data", data, "--folder", folder, "--arch", "realformer", "--layers", 1, *options, *TINY, *FLAGS.split()]


def checkpoint(folder: Path, name: str = "checkpoint_last.pt") -> dict[str, Any]:
    state: dict[str, Any] = torch.load(folder / "checkpoints" / name, weights_only=False)
    return state


def updates(state: dict[str, Any]) -> int:
    return int(state["optimizer_history"][-1]["num_updates"])


@pytest.fixture(scope="module")
def trained(scored: Callable[[str], Path]) -> Path:
    return scored("wmt14_en_de") / recipe.RUN


def test_the_training_is_as_long_as_was_counted(trained: Path) -> None:
    note = json.loads((trained / "train.json").read_text())
    state = checkpoint(trained)
    assert note["complete"] is True
    assert note["updates"] == 3 * note["updates_an_epoch"] == updates(state)
    words = note["command"]
    assert words[words.index("--total-num-update") + 1] == str(note["updates"])
    assert state["last_optimizer_state"]["param_groups"][0]["lr"] == 0  # where the schedule ends
    names = sorted(path.name for path in (trained / "checkpoints").glob("checkpoint[0-9]*"))
    assert names == ["checkpoint2.pt", "checkpoint3.pt"]


def test_what_was_done_is_noted(trained: Path) -> None:
    note = json.loads((trained / "train.json").read_text())
    expected = {"protocol": "realformer", "arch": "realformer", "layers": [1, 1], "tokens_a_step": 600, "epochs": 3}
    assert {name: note[name] for name in expected} == expected
    (session,) = note["sessions"]
    assert session["seconds"] > 1
    assert note["wall_clock_hours"] == pytest.approx(session["seconds"] / 3600)
    assert (note["gpus"], note["gpu_hours"], note["device"], note["precision"]) == (0, 0, "CPU", "fp32")


def test_a_training_that_began_from_a_checkpoint_goes_on_from_its_own(toy_corpus: Path, tmp_path: Path) -> None:
    """fairseq's own parser reads the commands."""
    argv = [str(toy_corpus), "--arch", "realformer", "--restore-file", "x.pt", "--reset-optimizer", "--reset-meters"]
    options = [parse(going_on(argv, tmp_path)).checkpoint]
    (tmp_path / "checkpoint1.pt").touch()
    options.append(parse(going_on(argv, tmp_path)).checkpoint)
    read = [(each.restore_file, each.reset_optimizer, each.reset_meters) for each in options]
    assert read == [("x.pt", True, True), ("checkpoint_last.pt", False, False)]
    plain = [*argv[:3], "--residual-topology", "pre"]
    assert going_on(plain, tmp_path) == plain


def test_a_run_that_is_set_aside_takes_its_average_along(tmp_path: Path) -> None:
    """The next commands take the average in a run's folder before any checkpoint."""
    names = ["average.pt", "average.pt.json", "checkpoints", "train.json"]
    (tmp_path / "checkpoints").mkdir()
    for name in set(names) - {"checkpoints"}:
        (tmp_path / name).touch()
    set_aside(tmp_path)
    assert sorted(path.name for path in (tmp_path / "before-1").iterdir()) == names
    with pytest.raises(UserError, match="holds no model"):
        model_in_run.checkpoint(tmp_path)


def test_a_disk_that_is_full_for_a_while_ends_no_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, outcomes = records.write, ["", "No space left on device", "No space left on device"]
    code = f"import pathlib, time\nwhile not pathlib.Path({str(tmp_path / 'space')!r}).exists(): time.sleep(0.05)"
    code += f"\npathlib.Path({str(tmp_path / 'checkpoints')!r}).mkdir()"
    code += f"\npathlib.Path({str(tmp_path / 'checkpoints/checkpoint_last.pt')!r}).touch()"

    def write_or_fail(path: Path, record: Any) -> None:
        if refusal := outcomes.pop(0) if outcomes else "":
            raise UserError(refusal)
        write(path, record)
        if not outcomes:
            (tmp_path / "space").touch()

    monkeypatch.setattr(records, "write", write_or_fail)
    monkeypatch.setattr(training_run, "RECORD_INTERVAL", 0.1)
    monkeypatch.setattr(training_run, "runnable", lambda _: [sys.executable, "-c", code])
    stage = Stage("train", tmp_path / "train.json", {}, {}, lasting=False)
    assert Training(stage, TrainRecord(), Machines(0), fresh=False).run([]) == 0
    assert not outcomes
    assert json.loads(stage.record.read_text())["complete"] is True


def test_a_training_that_fails_says_so(toy_corpus: Path, tmp_path: Path) -> None:
    words = arguments(toy_corpus, tmp_path / "run")
    done = realformer_nmt("train", *words, "--finetune-from-model", "absent.pt")
    assert done.returncode == 1
    assert done.stderr.endswith("fairseq-train ended with status 1, for the reason above\n")
    assert json.loads((tmp_path / "run/train.json").read_text())["complete"] is False


def test_a_training_that_is_killed_names_the_signal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    monkeypatch.setattr(training_run, "runnable", lambda _: [sys.executable, "-c", code])
    training = Training(Stage("train", tmp_path / "train.json", {}, {}), TrainRecord(), Machines(0), fresh=False)
    with pytest.raises(UserError, match=r"^fairseq-train ended with SIGKILL$"):
        training.run([])


def test_a_training_that_trains_nothing_is_not_complete(toy_corpus: Path, tmp_path: Path, capsys: Any) -> None:
    """The first learning rate is no larger than --stop-min-lr, where fairseq-train ends with status 0."""
    words = ["train", *map(str, arguments(toy_corpus, tmp_path / "run")), "--stop-min-lr", "1e-7"]
    for _ in range(2):
        with commands.starting_forks():
            assert main(words) == 1
        outputs = capsys.readouterr()
        assert "fairseq-train ended without a checkpoint, for the reason above: nothing was trained" in outputs.err
        assert "trained in" not in outputs.out
        assert json.loads((tmp_path / "run/train.json").read_text())["complete"] is False


def test_a_machine_of_another_rank_than_0_expects_no_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training_run, "runnable", lambda _: [sys.executable, "-c", ""])
    stage = Stage("train", tmp_path / "train.json", {}, {}, lasting=False)
    training = Training(stage, TrainRecord(), Machines(0, nodes=2, node_rank=1), fresh=False)
    assert training.run([]) == 0
    with ThreadPoolExecutor(1) as pool:  # a thread cannot handle signals
        assert pool.submit(training.run, []).result() == 0


def test_two_processes_of_torchrun_make_the_same_step_and_begin_alike(
    toy_corpus: Path, tmp_path: Path, capsys: Any
) -> None:
    """The command printed for two GPUs, on two CPU processes: words in another order, and a learning rate of 0."""
    data, old = shutil.copytree(toy_corpus, tmp_path / "data-bin"), Dictionary.load(str(toy_corpus / "dict.src.txt"))
    for language in ("src", "tgt"):
        lines = (toy_corpus / f"dict.{language}.txt").read_text().splitlines(keepends=True)
        (data / f"dict.{language}.txt").write_text("".join(lines[::-1]))
    first = saved.save(tmp_path / "first.pt", saved.state(toy_corpus, *FLAGS.split()[1:9], arch="realformer"))
    begun = ("--from", first, "--carry-embeddings", toy_corpus)
    words = arguments(data, tmp_path / "run", "--precision", "fp32", *begun)
    words[words.index("--gpus") + 1] = 2
    printed = dry_run(capsys, *words)
    total = int(printed[printed.index("--total-num-update") + 1])
    assert printed[printed.index("--update-freq") + 1] == "1"
    assert printed[0] == "torchrun"
    (tmp_path / "run").mkdir()
    still = ["--lr", "0", "--end-learning-rate", "0", "--warmup-init-lr", "0"]
    run = [*commands.TORCHRUN, *printed[1:], "--cpu", "--max-epoch", "1", *still]
    done = commands.run(run, environment=environment())
    assert done.returncode == 0, done.stderr[-3000:] + shlex.join(run)
    state = checkpoint(tmp_path / "run")
    assert 3 * updates(state) == total
    new, name = Dictionary.load(str(data / "dict.src.txt")), "encoder.embed_tokens.weight"
    rows = [old.index(word) for word in new.symbols]
    assert rows != list(range(len(rows)))
    assert torch.equal(state["model"][name], torch.load(first, weights_only=False)["model"][name][rows])
