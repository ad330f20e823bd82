"""A train.json that holds values of another kind is refused with its name; what the package writes is read."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import checksummed_json, records

SESSION = {"started": "2026-11-20T18:00:00+00:00", "seconds": 9.5, "gpus": 0, "versions": {"torch": "2.13"}}
TRAIN = {"updates": 9, "command": ["fairseq-train"], "device": "CPU", "wall_clock_hours": 0.5, "protocol": "small"}
TRAIN |= {"made_from": {"settings": {"lr": [1]}, "inputs": {}, "versions": {}}, "sessions": [SESSION]}
ODD: list[dict[str, Any]] = [
    *({"command": value} for value in (1.5, "fairseq-train", [{}])),
    *({"made_from": value} for value in ([], {"settings": [[]]})),
    *({"sessions": value} for value in ("one", [2], [{**SESSION, "versions": []}])),
    {"sessions": [{**SESSION, "versions": {"torch": "\ud800"}}]},
    *({"wall_clock_hours": value} for value in ("1", float("nan"), 10**400)),
    *({"updates": value} for value in (-1, 2.5, "9")),
    {"device": 7},
]


def test_what_the_package_writes_is_read(tmp_path: Path) -> None:
    checksummed_json.write(tmp_path / "train.json", TRAIN)
    content = to_builtins(records.read(tmp_path / "train.json", TrainRecord, ""))
    assert {name: content[name] for name in TRAIN} == TRAIN


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_a_value_of_another_kind_is_refused_by_name(tmp_path: Path, odd: dict[str, Any]) -> None:
    checksummed_json.write(tmp_path / "train.json", {**TRAIN, **odd})
    (name,) = odd
    with pytest.raises(UserError, match=rf"/train\.json has an unexpected format.*{name}"):
        records.read(tmp_path / "train.json", TrainRecord, "")
