"""A small version of the trial: no reader ends in anything but an answer or a declared error."""

import json
from pathlib import Path

import pytest

from reliability import fuzzing
from reliability.fuzzed_inputs import RUN, TEXT, resealed


@pytest.mark.parametrize("name", fuzzing.READERS)
def test_readers_answer_or_say_what_is_wrong(name: str) -> None:
    assert fuzzing.attempt(name, 40) >= 10


def test_a_record_without_edits_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(resealed(json.dumps(RUN).encode()))
    assert fuzzing.read_run(path).hypotheses == TEXT.decode().splitlines()
