"""The device that `--gpus` says is that of every stage that has one."""

from pathlib import Path

import pytest
from grids.grid_cells import asked, corpus_of

from realformer_nmt.comparison.grid.cells import cells
from realformer_nmt.comparison.grid.grid import load
from realformer_nmt.comparison.pipeline import requests
from realformer_nmt.comparison.run import RunRequest

CELLS = 'families = ["pre_ln"]\nlayers = ["1"]\n'
TRANSLATED = f'{CELLS}protocol = "small"\ncorpus = "multi30k_en_de"\nsubsets = ["test", "test1"]\n'
MEASURED = f'{CELLS}protocol = "small_bert"\ntask = "masked_lm"\nprepared = "data-bin"\n'


@pytest.mark.parametrize(
    ("text", "stages"),
    [(TRANSLATED, {"translate", "translate test1"}), (MEASURED, {"evaluate"})],
    ids=["translated", "measured"],
)
def test_a_cell_without_gpus_is_decoded_on_the_cpu(text: str, stages: set[str], tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text(text)
    (tmp_path / "data-bin").mkdir()
    for name in ("dict.txt", "train.idx", "train.bin"):
        (tmp_path / "data-bin" / name).touch()
    grid = load(tmp_path / "grid.toml")
    for gpus, on_cpu in ((0, stages), (1, set())):
        (cell,) = cells(grid, corpus_of(grid, tmp_path), asked(tmp_path), gpus)
        assert {stage.name for stage in cell.stages if "--cpu" in stage.request.command()} == on_cpu


@pytest.mark.parametrize(("gpus", "on_cpu"), [(0, ["translate"]), (1, []), (None, [])])
def test_a_run_without_gpus_is_decoded_on_the_cpu(gpus: int | None, on_cpu: list[str], tmp_path: Path) -> None:
    request = RunRequest(corpus="multi30k_en_de", layers="1", protocol="small", folder=tmp_path, gpus=gpus)
    assert [stage.subcommand for stage in requests(request) if "--cpu" in stage.argv()] == on_cpu
