"""Checkpoints: fairseq's own load everywhere, one that would run code is refused everywhere, and runs nothing."""

import argparse
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.models.transformer import TransformerModel
from fixture_types import Command, Once
from stock_runs import TINY

from realformer_nmt import compat
from realformer_nmt.errors import UserError


class MakesFolder:
    def __init__(self, folder: Path):
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[..., None], tuple[str]]:
        return os.mkdir, (str(self.folder),)


@pytest.fixture(scope="session")
def checkpoint(once: Once, fairseq: Command, toy_corpus: Path, user_dir: Path) -> Path:
    """Of five updates, with BLEU counts among its meters."""

    def train(folder: Path) -> None:
        limits = ("--eval-bleu", "--validate-interval-updates", 3, "--max-update", 5)
        done = fairseq("train", toy_corpus, "--user-dir", user_dir, *TINY, *limits, "--save-dir", folder)
        assert done.returncode == 0, done.stderr

    return once("compat_checkpoint", train) / "checkpoint_last.pt"


def in_the_model(state: dict[str, Any], path: Path, proof: Path) -> None:
    torch.save({**state, "model": MakesFolder(proof)}, path)


def among_the_meters(state: dict[str, Any], path: Path, proof: Path) -> None:
    torch.save({**state, "extra_state": {**state["extra_state"], "metrics": [MakesFolder(proof)]}}, path)


def among_the_options(state: dict[str, Any], path: Path, proof: Path) -> None:
    torch.save({**state, "cfg": {"model": argparse.Namespace(arch=MakesFolder(proof))}}, path)


def in_the_old_format(state: dict[str, Any], path: Path, proof: Path) -> None:
    torch.save({**state, "task_state": MakesFolder(proof)}, path, _use_new_zipfile_serialization=False)


def as_plain_pickle(_state: dict[str, Any], path: Path, proof: Path) -> None:
    path.write_bytes(pickle.dumps(MakesFolder(proof)))


HIDING_PLACES = (in_the_model, among_the_meters, among_the_options, in_the_old_format, as_plain_pickle)
HELD = r"(holds \w+\.mkdir|is no pickle of tensors and plain values)"
Hide = Callable[[dict[str, Any], Path, Path], None]


@pytest.fixture
def bad(checkpoint: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "checkpoint_bad.pt"
    request.param(checkpoint_utils.load_checkpoint_to_cpu(str(checkpoint)), path, tmp_path / "proof")
    return path


def load_from_hub(path: Path) -> Any:
    return TransformerModel.from_pretrained(str(path.parent), path.name)


LOADERS = (checkpoint_utils.load_checkpoint_to_cpu, checkpoint_utils.load_ema_from_checkpoint, load_from_hub)


@pytest.mark.parametrize("load", LOADERS, ids=lambda load: load.__name__)
@pytest.mark.parametrize("bad", HIDING_PLACES, ids=lambda hide: hide.__name__, indirect=True)
def test_refused(bad: Path, load: Callable[[Any], Any]) -> None:
    with pytest.raises(compat.UnsafeCheckpointError, match=rf"bad\.pt: it {HELD}, and loading that could run"):
        load(bad if load is load_from_hub else str(bad))
    assert not (bad.parent / "proof").exists()


@pytest.mark.parametrize("part", [0, 0.5, 0.99])
def test_part_of_a_checkpoint_is_named(checkpoint: Path, tmp_path: Path, part: float) -> None:
    path = tmp_path / "part.pt"
    path.write_bytes(checkpoint.read_bytes()[: int(part * checkpoint.stat().st_size)])
    with pytest.raises(UserError, match=r"cannot load .*part\.pt: it is no checkpoint, or not all of one"):
        checkpoint_utils.load_checkpoint_to_cpu(str(path))


@pytest.mark.parametrize("text", ["", "a text\n", "\N{SNOWMAN}" * 99, "{}"])
def test_a_text_is_no_checkpoint(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.pt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"notes\.pt: it is no"):
        checkpoint_utils.load_checkpoint_to_cpu(str(path))


def commands(corpus: Path, bad: Path, good: Path) -> dict[str, tuple[object, ...]]:
    train = ("train", corpus, *TINY, "--max-update", 6, "--save-dir", bad.parent)
    decode = ("--path", f"{good}:{bad}")
    return {
        "resume": (*train, "--restore-file", bad),
        "finetune": (*train, "--finetune-from-model", bad),
        "generate": ("generate", corpus, *decode),
        "interactive": ("interactive", corpus, *decode),
        "validate": ("validate", corpus, "--task", "translation", "--max-tokens", 500, "--path", bad),
    }


@pytest.mark.parametrize(
    ("bad", "name"),
    list(zip(HIDING_PLACES, ("resume", "finetune", "generate", "interactive", "validate"), strict=True)),
    indirect=["bad"],
)
def test_refused_by_the_command(
    bad: Path, name: str, checkpoint: Path, fairseq: Command, toy_corpus: Path, user_dir: Path
) -> None:
    """Also where the user asks torch to load anything: that variable is for calls that do not say what they want."""
    command = commands(toy_corpus, bad, checkpoint)[name]
    done = fairseq(*command, "--user-dir", user_dir, TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD="1")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert re.search(rf"refused to load {bad}: it {HELD}, .* Ask its maker", last)
    assert not (bad.parent / "proof").exists()


def test_a_good_one_resumes(
    checkpoint: Path, fairseq: Command, toy_corpus: Path, user_dir: Path, tmp_path: Path
) -> None:
    limits = ("--eval-bleu", "--max-update", 7, "--save-dir", tmp_path, "--restore-file", checkpoint)
    done = fairseq("train", toy_corpus, "--user-dir", user_dir, *TINY, *limits)
    assert done.returncode == 0, done.stderr
    assert "(epoch 1 @ 5 updates)" in done.stdout
    resumed = checkpoint_utils.load_checkpoint_to_cpu(str(tmp_path / "checkpoint_last.pt"))
    assert resumed["optimizer_history"][-1]["num_updates"] == 7


def test_every_sentence_of_a_good_one_is_generated(
    checkpoint: Path, fairseq: Command, toy_corpus: Path, user_dir: Path
) -> None:
    """61 sentences: eight a batch, and five."""
    done = fairseq("generate", toy_corpus, "--user-dir", user_dir, "--path", checkpoint, "--batch-size", 8, "--beam", 1)
    assert done.returncode == 0, done.stderr
    numbers = [int(line[2:].split("\t")[0]) for line in done.stdout.splitlines() if line.startswith("H-")]
    assert sorted(numbers) == list(range(61))
    assert "Warning" not in done.stderr


def test_every_sentence_is_validated(checkpoint: Path, fairseq: Command, toy_corpus: Path, user_dir: Path) -> None:
    arguments = ("--task", "translation", "--path", checkpoint, "--max-tokens", 4000, "--log-format", "simple")
    done = fairseq("validate", toy_corpus, "--user-dir", user_dir, *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("| bsz 203")
