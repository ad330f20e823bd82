"""Content of results.json for a whole comparison, gathered from cells with records made by hand."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from grids.grid_cells import cells_of, corpus_of

from realformer_nmt.common.files import json_records
from realformer_nmt.common.stages.versions import Machine
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.grid import load
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.report.finding import finding
from realformer_nmt.comparison.results import gather
from realformer_nmt.comparison.results.results_file import Results
from reliability.fuzzed_inputs import RUN, TEXT

GRID = 'families = ["pre_ln", "admin"]\nlayers = ["1"]\nprotocol = "small"\ncorpus = "multi30k_en_de"\n'
LABELS = {"bleu": "sacreBLEU", "chrf": "chrF2", "comet": "COMET x 100"}
LAPTOP = Machine(host="vm", processor="AMD EPYC", cores=2, memory_gib=24)
SERVER = Machine(host="vm", processor="Intel Xeon", cores=16, memory_gib=126)


def make_cells(folder: Path, metrics: Sequence[Sequence[str]]) -> list[Cell]:
    """Return cells that are done and scored in these metrics."""
    (folder / "grid.toml").write_text(GRID)
    cells = cells_of(load(folder / "grid.toml"), folder)
    for cell, names in zip(cells, metrics, strict=True):
        scores = {name: {"metric": LABELS[name], "score": 20.0, "signature": name} for name in names}
        cell.folder.mkdir(parents=True)
        (cell.folder / "text").write_bytes(TEXT)
        json_records.write_sealed(cell.record_file, {"state": "done", "sessions": []})
        json_records.write_sealed(cell.folder / "train.json", {"made_from": {}, "outputs": {}})
        json_records.write_sealed(cell.scores, {**RUN, "scores": scores, "made_from": {}, "outputs": {}})
    return cells


def results(folder: Path, cells: Sequence[Cell]) -> Results:
    grid = load(folder / "grid.toml")
    return gather.gather(grid, corpus_of(grid, folder), list(map(CellState, cells)), [])


def test_a_comparison_with_a_damaged_cell_is_not_complete_and_finds_nothing(tmp_path: Path) -> None:
    cells = make_cells(tmp_path, [["bleu"], ["bleu"]])
    whole = results(tmp_path, cells)
    assert whole.complete
    assert finding(whole) != ""
    cells[1].scores.unlink()
    assert [cell.state for cell in results(tmp_path, cells).cells] == ["done", "damaged"]
    assert not results(tmp_path, cells).complete
    assert finding(results(tmp_path, cells)) == ""


def test_a_table_has_a_column_for_each_metric_that_a_cell_is_scored_in(tmp_path: Path) -> None:
    """The first cell may have been scored before the grid named a model of COMET."""
    table = results(tmp_path, make_cells(tmp_path, [["bleu", "chrf"], ["bleu", "chrf", "comet"]]))
    columns = {column.name: (column.label, column.signature) for column in table.metrics}
    assert columns.keys() == {name for row in table.rows for name in row.scores}
    assert {name: columns[name] for name in LABELS} == {name: (label, name) for name, label in LABELS.items()}


def state(machine: Machine | None, device: str | None = None) -> Any:
    training = SimpleNamespace(device=device) if device else None
    return SimpleNamespace(record=SimpleNamespace(machine=machine), training=training)


def test_two_machines_with_one_hosts_name_are_two() -> None:
    states = [state(LAPTOP, "CPU"), state(SERVER, "H100"), state(LAPTOP), state(None), state(SERVER, "H100")]
    laptop, server = gather.machines(states)
    assert (laptop.processor, laptop.gpus) == ("AMD EPYC", [])
    assert (server.processor, server.gpus) == ("Intel Xeon", ["H100"])
