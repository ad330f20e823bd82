"""The real fairseq-train leaves a note of a diverged training; stock fairseq leaves none."""

import inspect
import json
import logging
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fixture_types import Command

from realformer_nmt.fairseq_patches.training import divergence

FLAGS = """
    --optimizer adam --lr 1e6 --lr-scheduler fixed --criterion label_smoothed_cross_entropy --label-smoothing 0.1
    --max-tokens 400 --max-update 40 --cpu --num-workers 0 --no-progress-bar --disable-validation --update-freq 2
    --save-interval-updates 1 --log-format json --log-interval 1
"""


def test_a_diverged_training_says_where_and_on_what(
    fairseq: Command, toy_corpus: Path, user_dir: Path, tmp_path: Path
) -> None:
    words = [toy_corpus, "--user-dir", user_dir, "--arch", "post_ln_tiny", *FLAGS.split(), "--save-dir", tmp_path]
    done = fairseq("train", *words)
    assert done.returncode != 0
    last = done.stderr.rstrip().splitlines()[-1]
    assert last.startswith("fairseq-train: gradients are Nan/Inf: the training diverged")
    note = json.loads((tmp_path / "divergence.json").read_text())
    logged = [json.loads(line[line.index("{") :]) for line in done.stdout.splitlines() if '"num_updates"' in line]
    assert note["update"] == max(int(record["num_updates"]) for record in logged)
    assert note["error"] == "gradients are Nan/Inf"
    assert len(note["loss"]) == len(note["sentences"]) == 2  # of --update-freq
    assert all(math.isnan(float(loss)) for loss in note["loss"])
    sentences = [number for batch in note["sentences"] for number in batch]
    assert len(set(sentences)) == len(sentences) > 0
    assert set(sentences) <= set(range(2000))
    layers = {f"{side}.layers.{number}" for side in ("encoder", "decoder") for number in range(2)}
    assert layers <= set(note["gradient_norms"])
    last = torch.load(tmp_path / "checkpoint_last.pt", weights_only=True)  # the last good one is as it was
    assert last["optimizer_history"][-1]["num_updates"] == note["update"]


def test_a_note_that_fails_leaves_the_divergence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def diverging(*_: Any) -> None:
        raise FloatingPointError("gradients are Nan/Inf")

    note_divergence = inspect.unwrap(divergence.note_divergence)
    odd = [{"net_input": {}}]
    checkpoint = SimpleNamespace(save_dir=str(tmp_path))
    trainer = SimpleNamespace(data_parallel_rank=0, cfg=SimpleNamespace(checkpoint=checkpoint))
    with caplog.at_level(logging.WARNING), pytest.raises(FloatingPointError, match="gradients are Nan/Inf"):
        note_divergence(diverging, trainer, odd)
    assert "the divergence is not noted: AttributeError: " in caplog.text
