"""A small version of `python -m reliability.fuzzing`: no reader ends in anything but an answer or a declared error."""

import json
from pathlib import Path

import pytest

from reliability import fuzzing
from reliability.fuzzed_inputs import RUN, resealed


@pytest.mark.parametrize("name", fuzzing.READERS)
def test_readers_answer_or_say_what_is_wrong(name: str) -> None:
    assert fuzzing.attempt(name, 40) >= 10


@pytest.mark.parametrize("name", ["run.json", "run.json, by a report"])
def test_a_record_without_edits_is_read_to_its_end(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(resealed(json.dumps(RUN).encode()))
    fuzzing.READERS[name].read(path)
