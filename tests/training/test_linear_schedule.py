"""The linear schedule, built by fairseq from its command line, against numbers worked out by hand."""

import pytest
import torch
from fairseq import optim
from fairseq.optim.lr_scheduler import FairseqLRScheduler, build_lr_scheduler
from programs.fairseq_config import configured


def schedule(*arguments: object) -> FairseqLRScheduler:
    config = configured("--lr-scheduler", "linear", "--optimizer", "radam", *arguments)
    optimizer = optim.build_optimizer(config.optimizer, [torch.nn.Parameter(torch.zeros(1))])
    return build_lr_scheduler(config.lr_scheduler, optimizer)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        # 1e-7 + 4/4 of (1e-3 - 1e-7), then 1/8 of 1e-3 less an update
        (
            "--lr 1e-3 --warmup-updates 4 --total-num-update 12",
            {0: 1e-7, 1: 2.50075e-4, 2: 5.0005e-4, 4: 1e-3, 5: 8.75e-4, 8: 5e-4, 11: 1.25e-4, 12: 0, 13: 0, 99: 0},
        ),
        ("--lr 1e-3 --warmup-updates 4 --max-update 12", {1: 2.50075e-4, 8: 5e-4, 12: 0}),
        ("--lr 1e-3 --warmup-updates 4 --max-update 6 --total-num-update 12", {5: 8.75e-4, 6: 7.5e-4, 12: 0}),
        # fairseq's inverse_sqrt takes 0 for -1, too
        ("--lr 1e-3 --warmup-init-lr -1 --warmup-updates 4 --max-update 12", {0: 0, 1: 2.5e-4, 4: 1e-3, 12: 0}),
        ("--lr 1e-3 --max-update 10", {0: 1e-3, 1: 9e-4, 10: 0}),
        (
            "--lr 0.5 --warmup-init-lr 0.1 --warmup-updates 2 --end-learning-rate 0.2 --total-num-update 5",
            {0: 0.1, 1: 0.3, 2: 0.5, 3: 0.4, 4: 0.3, 5: 0.2, 6: 0.2},
        ),
    ],
)
def test_line_through_numbers_worked_out_by_hand(flags: str, expected: dict[int, float]) -> None:
    line = schedule(*flags.split())
    assert line.optimizer.get_lr() == pytest.approx(expected.get(0, line.optimizer.get_lr()), rel=1e-12)
    for update in (*expected, *reversed(expected)):  # a function of the update alone
        assert line.step_update(update) == pytest.approx(expected[update], rel=1e-12, abs=1e-18)
        assert line.optimizer.get_lr() == pytest.approx(expected[update], rel=1e-12, abs=1e-18)
        line.step_begin_epoch(3)
        line.step(epoch=3, val_loss=1.0)
        assert line.optimizer.get_lr() == pytest.approx(expected[update], rel=1e-12, abs=1e-18)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--lr 1e-3", "pass --total-num-update N or --max-update N"),
        ("--lr 1e-3 --total-num-update -5", "--total-num-update -5(.0)?: allowed is 0 or more"),
        ("--lr 1e-3 --warmup-updates 4 --total-num-update 4", "end at update 4, within its warm-up of 4"),
        ("--lr 1e-3,1e-4 --max-update 100", r"--lr was given \[0.001, 0.0001\]: pass one number"),
    ],
)
def test_impossible_lines_are_refused(flags: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        schedule(*flags.split())
