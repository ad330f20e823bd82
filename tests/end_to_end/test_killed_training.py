"""A run of fairseq-train with RAdam, the linear schedule and the fused loss, killed half-way and started again."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from fixture_types import Command
from programs.commands import fairseq as command
from programs.commands import kill_after

import realformer_nmt

assert realformer_nmt  # whose import lets torch load what fairseq's checkpoints hold

SAVED, KILLED, LAST = 30, 32, 60
FLAGS = f"""
    --cpu --arch transformer --encoder-layers 1 --decoder-layers 1 --encoder-embed-dim 16 --encoder-ffn-embed-dim 16
    --encoder-attention-heads 2 --decoder-attention-heads 2 --max-tokens 800 --seed 3 --update-epoch-batch-itr 1
    --optimizer radam --adam-betas (0.9,0.98) --weight-decay 0.01
    --lr-scheduler linear --lr 1e-2 --warmup-updates 10 --end-learning-rate 1e-3 --max-update {LAST}
    --criterion label_smoothed_cross_entropy_fused --label-smoothing 0.1 --report-accuracy
    --save-interval-updates {SAVED} --no-epoch-checkpoints --log-format json --log-interval 1
"""


class Runs:
    """The same command in two folders: one run undisturbed, one killed and resumed."""

    def __init__(self, fairseq: Command, data: Path, user_dir: Path, folder: Path) -> None:
        self.undisturbed, self.killed = folder / "undisturbed", folder / "killed"
        self.flags = [str(data), "--user-dir", str(user_dir), *FLAGS.split()]
        self.whole = fairseq("train", *self.flags, "--save-dir", self.undisturbed)
        kill_after(
            command("train", *self.flags, "--save-dir", self.killed),
            folder,
            lambda line: f'"num_updates": "{KILLED}"' in line,
        )
        self.resumed = fairseq("train", *self.flags, "--save-dir", self.killed)


def logged(run: subprocess.CompletedProcess[str]) -> dict[int, dict[str, Any]]:
    lines = [json.loads(line[line.index("{") :]) for line in run.stdout.splitlines() if '"num_updates"' in line]
    return {int(line["num_updates"]): line for line in lines if "lr" in line}


def test_killed_run_ends_where_the_undisturbed_one_does(
    fairseq: Command, toy_corpus: Path, user_dir: Path, tmp_path: Path
) -> None:
    """One test, as each of pytest-xdist's processes would start the runs anew."""
    runs = Runs(fairseq, toy_corpus, user_dir, tmp_path)
    assert runs.whole.returncode == 0, runs.whole.stderr
    assert runs.resumed.returncode == 0, runs.resumed.stderr
    whole, resumed = logged(runs.whole), logged(runs.resumed)
    assert set(whole) == set(range(1, LAST + 1))
    assert set(resumed) == set(range(SAVED + 1, LAST + 1))
    assert_learns(whole)
    assert_on_the_line(whole | resumed)
    assert_on_the_line(whole)
    ends = [runs.undisturbed / "checkpoint_last.pt", runs.killed / "checkpoint_last.pt"]
    assert_equal(*(torch.load(end, weights_only=False) for end in ends))


def assert_learns(log: dict[int, dict[str, Any]]) -> None:
    assert float(log[LAST]["loss"]) < float(log[1]["loss"]) - 0.5
    assert 0 < float(log[LAST]["accuracy"]) <= 100


def assert_on_the_line(log: dict[int, dict[str, Any]]) -> None:
    """Check that the rate rises by a tenth of 1e-2 an update, then falls by a fiftieth of 9e-3, to six digits."""
    rates = {n: 1e-7 + (1e-2 - 1e-7) * n / 10 for n in range(1, 10)}
    rates |= {n: 1e-2 - 9e-3 * (n - 10) / 50 for n in range(10, LAST + 1)}
    assert {n: float(line["lr"]) for n, line in log.items()} == pytest.approx(rates, rel=1e-5)


def assert_equal(one: dict[str, Any], other: dict[str, Any]) -> None:
    for name, value in one["model"].items():
        assert torch.equal(value, other["model"][name]), name
    states = [checkpoint["last_optimizer_state"]["state"] for checkpoint in (one, other)]
    assert states[0].keys() == states[1].keys()
    for key, state in states[0].items():
        assert state["step"] == states[1][key]["step"] == LAST
        assert all(torch.equal(state[name], states[1][key][name]) for name in ("exp_avg", "exp_avg_sq"))
