"""Training in fp16 on a CPU: the path of a GPU, with its loss scale, skipped updates and weights of 32 bits."""

import re
from pathlib import Path

import torch
from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.optim import FP16Optimizer
from fixture_types import Command
from tiny_models import tiny
from tiny_models.representatives import every_family

from realformer_nmt.model.presets import FAMILIES

WORDS = ["data", "--arch", "transformer", "--optimizer", "adam", "--lr", "0.01", "--fp16", "--fp16-no-flatten-grads"]


def test_updates_that_overflow_are_skipped_and_the_others_train(
    fairseq: Command, toy_corpus: Path, user_dir: Path, tmp_path: Path
) -> None:
    """test_one_launch.py shows the same for --fp16 --fp16-no-flatten-grads."""
    options = ("--arch", "realformer_tiny", "--optimizer", "adam", "--lr", 1e-3, "--cpu", "--num-workers", 0)
    length = ("--max-tokens", 400, "--max-update", 40, "--fp16-init-scale", 2**20, "--log-interval", 20)
    folder = ("--save-dir", tmp_path, "--no-epoch-checkpoints")
    done = fairseq("train", toy_corpus, "--user-dir", user_dir, *options, *length, *folder, "--memory-efficient-fp16")
    assert done.returncode == 0, done.stderr
    assert "gradient overflow detected" in done.stdout
    losses, scales = (
        [float(text) for text in re.findall(rf" {name}=([\d.]+)", done.stdout)] for name in ("loss", "loss_scale")
    )
    assert losses[-1] < losses[0]
    assert scales[-1] < 2**20


@every_family
def test_every_family_trains_in_fp16(family: str) -> None:
    """Three updates by fairseq's optimizer: gradients and weights are finite, and the masters move."""
    config = convert_namespace_to_omegaconf(options.parse_args_and_arch(options.get_training_parser(), WORDS))
    model = tiny.opened(tiny.build(**FAMILIES[family])).half().train()
    optimizer = FP16Optimizer.build_optimizer(config, list(model.parameters()))
    before = [weights.clone() for weights in optimizer.fp32_params]
    for update in range(3):
        optimizer.zero_grad()
        model.set_num_updates(update)
        logits, _ = model(tiny.SOURCE, None, tiny.PREVIOUS)
        assert logits.dtype is torch.float16
        words = logits[tiny.PREVIOUS != tiny.PAD].float()
        optimizer.backward(words.log_softmax(-1)[:, 4].neg().sum())
        norm = optimizer.clip_grad_norm(1.0)
        assert norm.isfinite()
        optimizer.step()
    assert all(weights.isfinite().all() for weights in model.parameters())
    moved = [not torch.equal(old, new) for old, new in zip(before, optimizer.fp32_params, strict=True)]
    assert sum(moved) > len(moved) / 2
