"""Analyses beside a comparison: whose models they are of, what they say of the claims, how the page shows them."""

import base64
from pathlib import Path
from typing import Any

import pytest
from grids.grid_cells import stub
from grids.sample_results import sample
from lxml import html
from msgspec.structs import replace

from realformer_nmt.analysis.hooks import CHAINS
from realformer_nmt.common.files import json_records
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.report import document
from realformer_nmt.comparison.results import analyses

FIGURE = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def make_cell(folder: Path, family: str, seed: int = 1, layers: str = "6") -> Cell:
    cell = stub(folder, family=family, layers=layers, seed=seed)
    json_records.write_sealed(cell.average.record, {"outputs": {"average.pt": {"sha256": cell.name}}})
    return cell


def model(cell: Cell, value: float) -> dict[str, Any]:
    """Return a model's part of analysis.json, where every figure that a claim is about has one value."""
    heads = {figure: {"mean": [[value] * 2] * 6} for figure in ("entropy", "divergence")}
    sides = ("encoder", "decoder")
    stream = {side: {"sublayers": {"5.ffn": {"share_of_branch": value}}} for side in sides}
    layers = {"likeness": {side: {"cosine": [value] * 6} for side in sides}, "stream": stream}
    depth = {"start": layers, "checkpoint": layers, "left_out": {}}
    attention = {"chains": dict.fromkeys(CHAINS, heads)}
    return {"name": cell.name, "arch": cell.family, "attention": attention, "depth": depth}


def analyse(cells: list[Cell], values: list[float], name: str = "analysis") -> Path:
    folder = cells[0].folder.parents[1] / name
    folder.mkdir()
    (folder / "entropy_encoder.svg").write_text(FIGURE)
    models = [model(cell, value) for cell, value in zip(cells, values, strict=True)]
    inputs = {f"{cell.name}.pt": {"sha256": cell.name} for cell in cells}
    outputs = {"entropy_encoder.svg": {"sha256": sha256(folder / "entropy_encoder.svg")}}
    provenance = {"inputs": inputs, "settings": {"subset": "valid"}}
    json_records.write_sealed(folder / "analysis.json", {"models": models, "made_from": provenance, "outputs": outputs})
    return folder


@pytest.fixture
def cells(tmp_path: Path) -> list[Cell]:
    return [make_cell(tmp_path, family) for family in ("realformer", "pre_ln", "admin")]


def test_claims_are_checked_of_the_cells_models(cells: list[Cell], tmp_path: Path) -> None:
    """RealFormer's figures are the lowest, as He et al. say; Pre-LN's cosine is below ADMIN's, against Xie et al."""
    analyse(cells, [0.1, 0.2, 0.3])
    (analysis,) = analyses.gather(tmp_path, list(map(CellState, cells)))
    assert analysis.cells == [cell.name for cell in cells]
    assert analysis.figures == ["entropy_encoder.svg"]
    papers = [(claim.paper, claim.agrees) for claim in analysis.claims]
    assert papers.count(("He et al. 2021", True)) == 2
    assert papers.count(("Xie et al. 2023", False)) == 1
    assert papers.count(("Liu et al. 2020", True)) == 1  # its last branch is the smaller one


def test_seeds_are_not_compared_with_each_other(cells: list[Cell], tmp_path: Path) -> None:
    more = [make_cell(tmp_path, family, 2) for family in ("realformer", "pre_ln")]
    analyse([*cells[:2], *more], [0.1, 0.2, 0.5, 0.4])
    (analysis,) = analyses.gather(tmp_path, list(map(CellState, [*cells, *more])))
    sparse = [claim.agrees for claim in analysis.claims if "sparser" in claim.predicted]
    assert sparse == [True, False]


def test_depths_are_not_compared_with_each_other(cells: list[Cell], tmp_path: Path) -> None:
    """Another encoder, above a decoder of as many layers."""
    deeper = make_cell(tmp_path, "pre_ln", layers="12-6")
    analyse([cells[0], deeper], [0.1, 0.2])
    (analysis,) = analyses.gather(tmp_path, list(map(CellState, [*cells, deeper])))
    assert analysis.claims == []


def test_models_that_are_no_cells_are_not_shown(cells: list[Cell], tmp_path: Path) -> None:
    analyse(cells, [0.1, 0.2, 0.3])
    assert analyses.gather(tmp_path, list(map(CellState, cells[:2]))) == []
    assert len(analyses.gather(tmp_path, list(map(CellState, cells)))) == 1


def test_an_analysis_that_cannot_be_read_is_left_out_and_named(
    cells: list[Cell], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A report can be made at any time, whatever lies beside it."""
    analyse(cells, [0.1, 0.2, 0.3])
    for name, content in {"cut": '{"models": [', "other": '{"outputs": {}}'}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "analysis.json").write_text(content)
    assert [analysis.folder for analysis in analyses.gather(tmp_path, list(map(CellState, cells)))] == ["analysis"]
    lines = capsys.readouterr().err.splitlines()
    assert [str(tmp_path / name / "analysis.json") in line for name, line in zip(("cut", "other"), lines, strict=True)]


def test_the_page_holds_the_pictures_and_no_script(cells: list[Cell], tmp_path: Path) -> None:
    analyse(cells, [0.1, 0.2, 0.3])
    results = replace(
        sample(seeds=1), cells=[], analyses=analyses.gather(tmp_path, list(map(CellState, cells))), examples=[]
    )
    results.rows[:] = [row for row in results.rows if not row.failed]
    page = html.fromstring(document.page(results, tmp_path))
    (picture,) = page.xpath("//img/@src")
    assert base64.b64decode(picture.removeprefix("data:image/svg+xml;base64,")).decode() == FIGURE
    assert page.xpath("//script") == []
    assert "img-src data:;" in page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    verdicts = [line.text_content().split(",")[0] for line in page.xpath("//ul[@class='says']/li")]
    assert verdicts == ["Agrees" if claim.agrees else "Does not agree" for claim in results.analyses[0].claims]
    assert "Agrees" in verdicts
    assert "img-src" not in document.page(replace(results, analyses=[]), tmp_path)
