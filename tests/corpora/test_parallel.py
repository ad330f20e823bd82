"""Order, bounded reading ahead, and what happens when a worker dies."""

import os
import signal
import time
from collections.abc import Iterator

import pytest

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.parallel import ordered


def squared(number: int) -> int:
    time.sleep(0.02 * (number % 3))  # later items are ready first
    if number == 77:
        raise UserError("seventy-seven")
    if number == 99:
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2


def test_results_come_in_order_and_no_more_is_read_than_is_worked_on() -> None:
    pulled = 0

    def numbers() -> Iterator[int]:
        nonlocal pulled
        for number in range(40):
            pulled += 1
            yield number

    for done, (number, result) in enumerate(ordered(squared, numbers(), 2)):
        assert (number, result) == (done, done**2)
        assert pulled <= done + 2 * 2 + 1
    assert pulled == 40
    assert list(ordered(squared, range(5), 1)) == [(number, number**2) for number in range(5)]


def test_an_error_of_a_worker_is_the_commands_error() -> None:
    with pytest.raises(UserError, match="seventy-seven"):
        list(ordered(squared, range(70, 99), 2))
    with pytest.raises(UserError, match="fewer --workers than 2"):
        list(ordered(squared, range(98, 103), 2))
