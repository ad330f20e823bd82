"""recipes/zoo compares every family, and its README counts the trainings."""

import runpy

import pytest
from programs.program import REPOSITORY

from realformer_nmt import plugin
from realformer_nmt.comparison.grid import grid as grids
from realformer_nmt.model.presets import FAMILIES, Preset, family

ZOO = REPOSITORY / "recipes" / "zoo"
SHOWN = {"synthesizer_dense", "synthesizer_dense_vanilla"}  # of eight Synthesizers


def test_every_family_is_compared() -> None:
    grid = grids.load(ZOO / "grid.toml")
    assert set(grid.families) == {name for name in FAMILIES if not name.startswith("synthesizer_")} | SHOWN
    assert len(grid.families) == len(set(grid.families))
    page = (ZOO / "README.md").read_text()
    assert f"{len(grid.families)} families with 6, 18 and 36 layers" in page
    cells = len(grid.families) * len(grid.layers) * (len(grid.axes["lr"]) + len(grid.seeds) - 1)  # one seed tunes
    assert f"{cells} trainings" in page


def test_the_newest_families_have_a_grid_with_three_of_the_first() -> None:
    grid, every = grids.load(ZOO / "successors.toml"), grids.load(ZOO / "grid.toml")
    assert {*grid.families} < {*every.families}
    assert {"pre_ln", "admin", "realformer"} < {*grid.families}
    assert (grid.layers, grid.seeds, grid.axes, grid.failure) == (every.layers, every.seeds, every.axes, every.failure)


def test_moda_with_the_topologies_and_scalings_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    added: dict[str, Preset] = {}

    def add_family(name: str, topology: str, carry: str, scaling: str = "none") -> None:
        added[name.removeprefix("moda_")] = family(topology, scaling, "dot", carry)

    monkeypatch.setattr(plugin, "add_family", add_family)
    runpy.run_path(str(ZOO / "moda_topologies" / "__init__.py"))
    assert added == {name: FAMILIES[name] | {"score_carry": "moda"} for name in added}
    assert len(added) == 4
