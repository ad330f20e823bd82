"""Commands still ask for what records were made from: a changed setting would disown every record."""

import shlex
from pathlib import Path

import pytest
from grids import recorded

CELLS = {cell.name: cell for cell in recorded.cells()}
each_cell = pytest.mark.parametrize("name", CELLS)
each_command = pytest.mark.parametrize("name", [name for name, cell in CELLS.items() if cell.content["fairseq_train"]])


def test_every_comparison_on_record_is_read() -> None:
    assert len(CELLS) >= 127


@each_command
def test_train_composes_the_command_that_was_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = CELLS[name]
    _, *run = shlex.split(cell.content["fairseq_train"])
    composed = recorded.fairseq_train(cell, tmp_path, monkeypatch)
    assert recorded.base_names(composed) == recorded.base_names(run)[: len(composed)]


@each_cell
def test_average_has_the_settings_of_the_record(name: str, tmp_path: Path) -> None:
    settings = CELLS[name].content["settings"].get("averaging")
    if settings is not None:  # neither of a stuck model nor of version 0.1.0
        assert recorded.averaging_settings(CELLS[name], tmp_path) == settings


@each_cell
def test_translate_has_the_settings_of_the_record(name: str) -> None:
    settings = CELLS[name].content["settings"].get("decoding")
    if settings is not None and "max_len_a" in settings:
        assert recorded.decoding_settings(CELLS[name]) == settings


def test_records_hold_the_settings_that_are_compared() -> None:
    for setting in ("averaging", "decoding"):
        assert sum(setting in cell.content["settings"] for cell in CELLS.values()) >= 100
