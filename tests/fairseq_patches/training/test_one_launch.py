"""Recorded steps in fairseq's trainer, on the CPU with a stand-in for CUDA graphs."""

import logging
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fixture_types import Command
from programs.program import REPOSITORY
from programs.runs import load
from tiny_models import tiny
from tiny_models.stock import stock

from realformer_nmt.fairseq_patches.training import one_launch

ALONE = """
import os

os.environ["REALFORMER_NMT_NATIVE"] = "0"  # so that the stand-in sees every operation
import realformer_nmt
from fairseq.trainer import Trainer

step = Trainer.train_step


def skip_overflows(trainer, *args, **kwargs):
    try:
        return step(trainer, *args, **kwargs)
    except (AssertionError, RuntimeError) as error:  # fairseq asks for a GPU when it skips an update
        if not isinstance(error.__context__, OverflowError):
            raise
        trainer.zero_grad()


Trainer.train_step = skip_overflows
"""
STAND_IN = f"""{ALONE}
import sys

sys.path.insert(0, {str(REPOSITORY / "tests/helpers")!r})
from realformer_nmt.fairseq_patches.training import one_launch
from tiny_models.stand_in_recorder import StandInRecorder

one_launch.can_record = lambda trainer: True
one_launch.CudaRecorder = StandInRecorder
"""


def test_a_training_with_recorded_steps_is_the_same_to_the_bit(
    fairseq: Command, toy_corpus: Path, tmp_path: Path
) -> None:
    """Nor does an update that overflows replace gradients: each shape is recorded once."""
    options = ("--arch", "realformer_tiny", "--share-all-embeddings", "--dropout", 0.1, "--criterion")
    options = (*options, "label_smoothed_cross_entropy_fused", "--optimizer", "radam", "--lr", 1e-3, "--cpu")
    options = (*options, "--fp16", "--fp16-no-flatten-grads", "--fp16-init-scale", 2**20)
    options = (*options, "--num-batch-buckets", 4, "--max-tokens", 200, "--update-freq", 2, "--max-update", 8)
    logs = {}
    for name, plug_in in (("run", ALONE), ("recorded", STAND_IN)):
        (tmp_path / f"to_{name}").mkdir()
        (tmp_path / f"to_{name}/__init__.py").write_text(plug_in)
        folder = ("--save-dir", tmp_path / name, "--no-epoch-checkpoints", "--num-workers", 0)
        done = fairseq("train", toy_corpus, "--user-dir", tmp_path / f"to_{name}", *options, *folder)
        assert done.returncode == 0, done.stderr
        logs[name] = done.stdout
    recorded = re.findall("recorded the step of shape (.*), the ", logs["recorded"])
    assert len(recorded) == len(set(recorded)) > 1
    assert all("gradient overflow detected" in log for log in logs.values())
    assert float(re.findall(r"\| train \| .*?\breplayed ([\d.]+)", logs["recorded"])[-1]) > 0.5
    assert "recorded the step" not in logs["run"]
    expected, weights = (load(tmp_path / name / "checkpoint_last.pt") for name in ("run", "recorded"))
    assert all(torch.equal(weights[name], weight) for name, weight in expected.items())


@pytest.mark.parametrize(
    ("changes", "obstacle"),
    [
        ({}, None),
        ({"cuda": False, "amp": True}, ""),
        ({"task": SimpleNamespace(num_batch_buckets=0)}, ""),
        ({"data_parallel_world_size": 2}, None),
        ({"data_parallel_world_size": 2, "ddp_backend": "pytorch_ddp"}, "--ddp-backend pytorch_ddp"),
        ({"data_parallel_world_size": 2, "heartbeat_timeout": 60}, "--heartbeat-timeout"),
        ({"checkpoint_activations": True}, "--checkpoint-activations"),
        ({"amp": True}, "--amp"),
        ({"_name": "of_my_own"}, "--criterion of_my_own"),
        ({"report_accuracy": True}, "--report-accuracy"),
        ({"model": stock(before=False)}, "a model of another package"),
    ],
)
def test_which_trainings_record(
    changes: dict[str, Any], obstacle: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    """The log names the obstacle, in trainings whose batches have few shapes."""
    with caplog.at_level(logging.INFO):
        assert one_launch.can_record(trainer(**changes)) is (obstacle is None)
    assert [record.message for record in caplog.records] == (
        [f"steps are not recorded, because of {obstacle}"] if obstacle else []
    )


def test_recording_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(one_launch.VARIABLE, "0")
    assert not one_launch.can_record(trainer())


def test_a_step_under_hooks_is_no_replay() -> None:
    model = tiny.build()
    assert not one_launch.has_hooks(model)
    model.encoder.layers[0].fc1.register_forward_hook(lambda *_: None)
    assert one_launch.has_hooks(model)


def trainer(**changes: Any) -> SimpleNamespace:
    options = {
        "cuda": True,
        "task": SimpleNamespace(num_batch_buckets=17),
        "data_parallel_world_size": 1,
        "ddp_backend": "legacy_ddp",
        "heartbeat_timeout": -1,
        "checkpoint_activations": False,
        "amp": False,
        "_name": "cross_entropy",
        "model": tiny.build(),
        **changes,
    }
    fields = SimpleNamespace(**options)
    cfg = SimpleNamespace(task=fields.task, model=fields, common=fields, distributed_training=fields, criterion=fields)
    return SimpleNamespace(
        cfg=cfg,
        cuda=fields.cuda,
        data_parallel_world_size=fields.data_parallel_world_size,
        get_model=lambda: fields.model,
    )
