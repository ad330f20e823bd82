"""Order, bounded reading ahead, and what happens when a worker dies."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from programs.program import REPOSITORY

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


INTERRUPTED = """
import contextlib, signal, time
from realformer_nmt.corpora.parallel import ordered
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
with contextlib.suppress(KeyboardInterrupt):
    for _ in ordered(abs, range(9), 2):
        time.sleep(1)  # until the workers wait for the next items
        print("begun", flush=True)
        time.sleep(60)
"""


def test_an_interruption_is_the_commands_alone() -> None:
    """Ctrl-C reaches every process of a terminal; the workers have nothing to say of it."""
    command = [sys.executable, "-c", INTERRUPTED]
    environment = {"PYTHONPATH": str(REPOSITORY)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, start_new_session=True) as process:
        assert process.stdout
        assert process.stdout.readline() == b"begun\n"
        os.killpg(process.pid, signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (0, b"")
