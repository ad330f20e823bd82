"""The real fairseq-train leaves a note of a diverged training; stock fairseq leaves none."""

import inspect
import json
import logging
import math
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fixture_types import Command
from tiny_models.tiny import PREVIOUS, SIZE, SOURCE, dictionary
from torch import Tensor

from realformer_nmt.fairseq_patches.training import divergence
from realformer_nmt.model.models.multilingual import MultilingualModel

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


IDS = {"a-b": [5, 1, 4], "b-a": [3, 2, 0]}


def trainer_of(model: Any, folder: Path) -> SimpleNamespace:
    def criterion(model: Any, batch: dict[str, Any]) -> tuple[Tensor, int, dict[str, Any]]:
        logits = model(**batch["net_input"])[0]
        return logits.float().logsumexp(-1).sum(), logits.size(0), {}

    return SimpleNamespace(
        data_parallel_rank=0,
        data_parallel_world_size=1,
        cfg=SimpleNamespace(checkpoint=SimpleNamespace(save_dir=str(folder))),
        get_num_updates=lambda: 7,
        optimizer=None,
        get_model=lambda: model,
        criterion=criterion,
        _prepare_sample=lambda batch: (batch, False),
    )


def test_a_batch_per_pair_of_languages_is_noted(tmp_path: Path) -> None:
    """`--task multilingual_translation` nests the batches of its pairs; one without sentences is None."""
    task = SimpleNamespace(dicts=dict.fromkeys("abc", dictionary()), model_lang_pairs=["a-b", "b-a", "a-c"])
    model = MultilingualModel.build_model(Namespace(**SIZE), task)
    words = {"src_tokens": SOURCE, "src_lengths": SOURCE.ne(1).sum(1), "prev_output_tokens": PREVIOUS}
    batches = {pair: {"id": torch.tensor(numbers), "net_input": words} for pair, numbers in IDS.items()}
    divergence.write_record(trainer_of(model, tmp_path), [{**batches, "a-c": None}, {}], FloatingPointError("x"))
    note = json.loads((tmp_path / "divergence.json").read_text())
    assert note["sentences"] == [[1, 4, 5], [0, 2, 3]]
    assert len(note["loss"]) == 2
    norms = {name: norm for name, norm in note["gradient_norms"].items() if ".layers." in name}
    assert {name.split(".")[1] for name in norms} == set(IDS)
    assert all(norm > 0 for norm in norms.values())


def test_a_note_that_fails_leaves_the_divergence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def diverging(*_: Any) -> None:
        raise FloatingPointError("gradients are Nan/Inf")

    note_divergence = inspect.unwrap(divergence.note_divergence)
    odd = [{"net_input": {}}]
    with caplog.at_level(logging.WARNING), pytest.raises(FloatingPointError, match="gradients are Nan/Inf"):
        note_divergence(diverging, trainer_of(lambda: 1, tmp_path), odd)
    assert "the divergence is not noted: TypeError: " in caplog.text
