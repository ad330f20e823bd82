"""Runs on two ranks of this machine's CPU, started in every way that fairseq knows: one run, or an error."""

import inspect
import re
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fixture_types import Command, Once
from programs.stock_runs import TINY, difference, load

from realformer_nmt.common.errors import UserError
from realformer_nmt.fairseq_patches.training import ranks
from reliability import trainings

STARTED = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node")
TORCHRUN = (*STARTED, "2")
UPDATES = 6  # five an epoch: 29 batches for two ranks, three an update, so that one lacks its last
ROUNDING = 1e-5
Train = Callable[..., subprocess.CompletedProcess[str]]
STOCK = {  # of compat_probes.py, for start_the_ranks_asked_for
    "torchrun": "alone",
    "torchrun_with_world_size": "fails",
    "spawn": "fails",
    "spawn_with_init_method": "success without training",
    "spawn_with_port": "alone",
}


@pytest.mark.stock
@pytest.mark.parametrize("start", STOCK)
def test_stock_fairseq_still_needs_the_patch(compat_answers: Callable[[str], dict[str, Any]], start: str) -> None:
    assert compat_answers("stock")[start] == STOCK[start], "start_the_ranks_asked_for may be no longer needed"


@pytest.fixture(scope="session")
def train(fairseq: Command, toy_corpus: Path, user_dir: Path) -> Train:
    def run(folder: Path, *options: object, **keywords: Any) -> subprocess.CompletedProcess[str]:
        witness = ("--user-dir", trainings.REPOSITORY / "reliability" / "witness")
        corpus = (toy_corpus, *TINY, "--eval-bleu", "--max-tokens-valid", 4000, "--update-freq", 3, "--lr", 1e-3)
        arguments = ("train", *corpus, *witness, "--save-dir", folder, "--max-update", UPDATES, *options)
        return fairseq(*arguments, PYTHONPATH=str(user_dir.parent), **keywords)

    return run


@pytest.fixture(scope="session")
def one_rank(once: Once, train: Train) -> Path:
    """Folder of a training on one rank, with as many sentences an update as two ranks see."""

    def build(folder: Path) -> None:
        assert train(folder, "--update-freq", 6).returncode == 0

    return once("one_rank", build)


def assert_one_run_of_two(folder: Path, one_rank: Path) -> None:
    """Two ranks with one set of parameters, which are those of one rank with the same sentences an update."""
    assert load(folder / "checkpoint_last.pt")["optimizer_history"][-1]["num_updates"] == UPDATES
    assert sorted(path.name for path in folder.glob("rank*")) == ["rank0of2.pt", "rank1of2.pt"]
    assert difference(folder / "rank0of2.pt", folder / "rank1of2.pt") == 0
    assert difference(folder / "rank0of2.pt", one_rank / "checkpoint_last.pt") < ROUNDING


@pytest.fixture(scope="session")
def torchrun(once: Once, train: Train) -> Path:
    """Nothing said to fairseq about ranks; BLEU counts are among the meters."""

    def build(folder: Path) -> None:
        done = train(folder, launcher=TORCHRUN)
        (folder / "out").write_text(done.stdout)
        (folder / "err").write_text(done.stderr)
        assert done.returncode == 0, done.stderr

    return once("torchrun", build)


def test_torchrun(torchrun: Path, one_rank: Path) -> None:
    assert (torchrun / "out").read_text().count("done training") == 1
    assert_one_run_of_two(torchrun, one_rank)
    assert "Warning" not in (torchrun / "err").read_text()


def test_resuming(torchrun: Path, train: Train, tmp_path: Path) -> None:
    """Rank 0 reads the checkpoint and sends it to rank 1: weights only there, too."""
    restore = ("--restore-file", torchrun / "checkpoint_last.pt", "--max-update", UPDATES + 2)
    done = train(tmp_path, "--distributed-world-size", 2, *restore, launcher=TORCHRUN)
    assert done.returncode == 0, done.stderr
    assert f"(epoch 2 @ {UPDATES} updates)" in done.stdout
    assert load(tmp_path / "checkpoint_last.pt")["optimizer_history"][-1]["num_updates"] == UPDATES + 2
    assert difference(tmp_path / "rank0of2.pt", tmp_path / "rank1of2.pt") == 0


@pytest.mark.parametrize(("fsdp", "layers", "number"), [(False, 0, 1), (True, 0, 2), (False, 1, 2)])
def test_missing_batches_are_left_out_unless_a_rank_has_no_other(fsdp: bool, layers: int, number: int) -> None:
    trainer = Namespace(is_fsdp=fsdp, cfg=Namespace(model=Namespace(base_layers=layers)))
    train_step = inspect.unwrap(ranks.leave_out_missing_batches)
    batches = [train_step(lambda _, samples, __: samples, trainer, samples) for samples in ([{"id": 1}, []], [[]])]
    assert batches == [[{"id": 1}, []][:number], [[]]]


def test_refusing_a_checkpoint_ends_all_ranks(train: Train, tmp_path: Path) -> None:
    bad = tmp_path / "bad.pt"
    bad.write_bytes(b"cos\nmkdir\n(S'proof'\ntR.")
    done = train(tmp_path, "--restore-file", bad, launcher=TORCHRUN)
    assert done.returncode == 1
    assert f"{bad} was cut off or damaged" in done.stderr


def test_spawn(one_rank: Path, train: Train, tmp_path: Path) -> None:
    """fairseq counts no devices on the CPU, where --cpu says nothing new. Each rank imports everything by itself."""
    done = train(tmp_path, "--distributed-world-size", 2, "--cpu", "--ddp-backend", "legacy_ddp")
    assert done.returncode == 0, done.stderr
    assert_one_run_of_two(tmp_path, one_rank)


@pytest.mark.product
def test_processes_started_by_hand(one_rank: Path, train: Train, tmp_path: Path) -> None:
    meeting = ("--distributed-init-method", f"file://{tmp_path}/meeting", "--distributed-no-spawn")
    options = ("--distributed-world-size", 2, *meeting)
    with ThreadPoolExecutor() as pool:
        ranks = list(pool.map(lambda rank: train(tmp_path, *options, "--distributed-rank", rank), range(2)))
    assert [rank.returncode for rank in ranks] == [0, 0], ranks[0].stderr + ranks[1].stderr
    assert_one_run_of_two(tmp_path, one_rank)


def test_hydra_cannot_join_and_says_so(fairseq: Command, tmp_path: Path, toy_corpus: Path, user_dir: Path) -> None:
    """fairseq-hydra-train decides before it imports any --user-dir; one of torchrun's two processes stands for both."""
    run = _hydra(tmp_path, toy_corpus)
    done = fairseq("hydra-train", *run, f"common.user_dir={user_dir}", **_launched(2))
    assert done.returncode == 1
    assert "WORLD_SIZE=2, but fairseq-hydra-train made no process group" in done.stderr


def _launched(ranks: int, rank: int = 0) -> dict[str, str]:
    return {"MASTER_ADDR": "localhost", "MASTER_PORT": "1", "WORLD_SIZE": str(ranks), "RANK": str(rank)}


def _hydra(folder: Path, corpus: Path) -> tuple[str, ...]:
    (folder / "toy.yaml").write_text(
        f"""
        task: {{_name: translation, data: {corpus}}}
        model: {{_name: transformer, encoder: {{layers: 1}}, decoder: {{layers: 1}}}}
        criterion: {{_name: cross_entropy}}
        optimizer: {{_name: adam}}
        lr_scheduler: {{_name: fixed}}
        optimization: {{max_update: 1, lr: [0.01]}}
        dataset: {{max_tokens: 100, num_workers: 0, disable_validation: true}}
        checkpoint: {{save_dir: {folder}, no_save: true}}
        """
    )
    return ("--config-dir", str(folder), "--config-name", "toy", f"hydra.run.dir={folder}")


def settings(**options: Any) -> Namespace:
    defaults = {"distributed_world_size": 1, "distributed_rank": 0, "distributed_init_method": None}
    rest = {"distributed_port": -1, "distributed_no_spawn": False, "distributed_backend": "nccl", "device_id": 0}
    return Namespace(**{**defaults, **rest, **options})


MISTAKES = {
    "another size than torchrun's": (
        {"distributed_world_size": 3},
        _launched(2),
        "--distributed-world-size 3, but WORLD_SIZE=2",
    ),
    "a meeting point beside torchrun's": (
        {"distributed_init_method": "tcp://localhost:1"},
        _launched(2),
        "--distributed-init-method tcp://localhost:1, but torchrun",
    ),
    "a torchrun that has ended": (
        {},
        {**_launched(1), "TORCHELASTIC_RUN_ID": "1", "TORCHELASTIC_USE_AGENT_STORE": "True"},
        "no torchrun answers at localhost:1",
    ),
    "a rank too many": (
        {"distributed_world_size": 2, "distributed_rank": 2, "distributed_init_method": "tcp://localhost:1"},
        {},
        "--distributed-rank 2 of --distributed-world-size 2",
    ),
    "several machines to spawn on": (
        {"distributed_world_size": 4, "distributed_rank": 2, "distributed_init_method": "tcp://localhost:1"},
        {},
        "--distributed-rank 2: on the CPU all 4 ranks are started on one machine",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_errors(monkeypatch: pytest.MonkeyPatch, mistake: str) -> None:
    options, environment, message = MISTAKES[mistake]
    monkeypatch.setattr(ranks, "die_with_parent", lambda: None)
    monkeypatch.setattr(sys, "argv", ["fairseq-train"])
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UserError, match=re.escape(message)):
        ranks.fill_in(settings(**options), on_cpu=True)


@pytest.mark.parametrize(
    ("launched", "expected"),
    [(_launched(1), (1, 0, 0, None)), ({**_launched(4, rank=3), "LOCAL_RANK": "1"}, (4, 3, 1, "env://"))],
)
def test_the_size_is_torchruns_on_gpus_too(
    launched: dict[str, str], expected: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine has eight GPUs, which fairseq takes for the size of the run, and which are not all used."""
    monkeypatch.setattr("torch.cuda.device_count", lambda: 8)
    monkeypatch.setattr(sys, "argv", ["fairseq-train"])
    for name, value in launched.items():
        monkeypatch.setenv(name, value)
    options = settings(distributed_world_size=8)
    ranks.fill_in(options, on_cpu=False)
    names = ("distributed_world_size", "distributed_rank", "device_id", "distributed_init_method")
    assert tuple(getattr(options, name) for name in names) == expected
    assert (options.distributed_no_spawn, options.distributed_backend) == (True, "nccl")
