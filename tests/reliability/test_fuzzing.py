"""A small version of `python -m reliability.fuzzing`: no reader ends in anything but an answer or a declared error."""

import pytest

from reliability import fuzzing


@pytest.mark.parametrize("name", fuzzing.READERS)
def test_readers_answer_or_say_what_is_wrong(name: str) -> None:
    assert fuzzing.attempt(name, 40) >= 10
