"""--lr-scheduler reduce_lr_on_plateau of a training that is resumed, against one without interruption."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fairseq import optim
from fairseq.optim import lr_scheduler
from programs.fairseq_config import configured

from realformer_nmt.fairseq_patches.training import plateau

LOSSES = (3.0, 4.0, 5.0)  # with --lr-patience 1 the third reduces the rate
load = plateau.follow_the_last_validation.__wrapped__


def schedule() -> Any:
    words = ("--lr-scheduler", "reduce_lr_on_plateau", "--lr-patience", 1, "--lr-shrink", 0.5, "--lr", 1)
    config = configured("--optimizer", "sgd", *words)
    optimizer = optim.build_optimizer(config.optimizer, [torch.nn.Parameter(torch.zeros(1))])
    return lr_scheduler.build_lr_scheduler(config.lr_scheduler, optimizer)


def resumed(after: int, iterations: int, *resets: bool) -> Any:
    """Return a schedule that goes on from the checkpoint of an epoch, saved before its loss had an effect."""
    interrupted, now = schedule(), schedule()
    for epoch, loss in enumerate(LOSSES[: after - 1], 1):
        interrupted.step(epoch, loss)
    if not any(resets):
        now.load_state_dict(interrupted.state_dict())
    place = {"epoch": after + (iterations == 0), "iterations_in_epoch": iterations}
    extra_state = {"train_iterator": place, "val_loss": LOSSES[after - 1]}
    load(lambda *_, **__: extra_state, SimpleNamespace(lr_scheduler=now, lr_step=now.step), "last.pt", *resets)
    return now


@pytest.mark.parametrize("after", [1, 2, 3])
def test_the_rate_falls_as_without_interruption(after: int) -> None:
    whole, now = schedule(), resumed(after, 0)
    for epoch, loss in enumerate(LOSSES, 1):
        whole.step(epoch, loss)
        if epoch > after:
            now.step(epoch, loss)
    assert whole.optimizer.get_lr() == now.optimizer.get_lr() == 0.5
    assert now.state_dict() == whole.state_dict()


@pytest.mark.parametrize(("iterations", "resets"), [(7, ()), (0, (True, True)), (0, (False, True))])
def test_within_an_epoch_and_in_another_training_it_stays(iterations: int, resets: tuple[bool, ...]) -> None:
    assert resumed(3, iterations, *resets).optimizer.get_lr() == 1
