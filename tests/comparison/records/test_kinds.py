"""Sealed records of a cell that hold values of another kind: each is refused with its file's name."""

from pathlib import Path
from typing import Any

import pytest

from realformer_nmt.common import checksummed_json
from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.grid import cell
from realformer_nmt.comparison.records.cell_record import CellRecord

SESSION = {"started": "2026-11-20T18:00:00+00:00", "finished": None, "faults": []}
NOTE = {"state": "done", "evidence": None, "sessions": [SESSION], "unigram_entropy": 7.5, "machine": {"host": "a"}}
TRAIN = {"updates": 9, "command": ["fairseq-train"], "device": "CPU", "wall_clock_hours": 0.5, "protocol": "small"}
TRAIN |= {"made_from": {"settings": {"lr": [1]}}, "sessions": [{"versions": {"torch": "2.13"}}]}
ODD_NOTES: list[dict[str, Any]] = [
    *({"machine": value} for value in ("host", 0, {"host": "\ud800"}, {"cores": []})),
    *({"unigram_entropy": value} for value in ([], "low", float("inf"))),
    *({"sessions": [value]} for value in (3, {**SESSION, "finished": 1.5}, {**SESSION, "started": True})),
    {"evidence": ["stuck"]},
]
ODD_TRAINS: list[dict[str, Any]] = [
    *({"command": value} for value in (1.5, "fairseq-train", [{}])),
    *({"made_from": value} for value in ([], {"settings": [[]]})),
    *({"sessions": value} for value in ("one", [2], [{"versions": []}], [{"versions": {"torch": "\ud800"}}])),
    *({"wall_clock_hours": value} for value in ("1", float("nan"), 10**400)),
    *({"updates": value} for value in (-1, 2.5, "9")),
    {"device": 7},
]


def test_what_the_package_writes_is_taken(tmp_path: Path) -> None:
    place = cell.place(tmp_path, cell.Named("admin", "6", 1))
    assert CellRecord(place).state == "waiting"
    assert cell.read(tmp_path / "train.json") == {}
    checksummed_json.write(place.note, NOTE)
    checksummed_json.write(tmp_path / "train.json", TRAIN)
    assert CellRecord(place).content == NOTE
    assert cell.read(tmp_path / "train.json") == TRAIN


@pytest.mark.parametrize("odd", ODD_NOTES, ids=str)
def test_a_note_of_another_kind_is_refused_by_name(tmp_path: Path, odd: dict[str, Any]) -> None:
    place = cell.place(tmp_path, cell.Named("admin", "6", 1))
    checksummed_json.write(place.note, {**NOTE, **odd})
    with pytest.raises(UserError, match=rf"cells/admin-6-s1/cell\.json has an unexpected format.*{next(iter(odd))}"):
        CellRecord(place)


@pytest.mark.parametrize("odd", ODD_TRAINS, ids=str)
def test_a_stage_of_another_kind_is_refused_by_name(tmp_path: Path, odd: dict[str, Any]) -> None:
    checksummed_json.write(tmp_path / "train.json", {**TRAIN, **odd})
    with pytest.raises(UserError, match=rf"/train\.json has an unexpected format.*{next(iter(odd))}"):
        cell.read(tmp_path / "train.json")
