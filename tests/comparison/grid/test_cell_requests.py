"""Requests of a cell: `--gpus` decides the device of every stage, and a finetuned model begins with the right one."""

from pathlib import Path

import pytest
from grids.grid_cells import cells_of, corpus_of, request_of

from realformer_nmt.comparison.grid.cells import cells
from realformer_nmt.comparison.grid.grid import load

CELLS = 'families = ["pre_ln"]\nlayers = ["1"]\n'
TRANSLATED = f'{CELLS}protocol = "small"\ncorpus = "multi30k_en_de"\nsubsets = ["test", "test1"]\n'
MEASURED = f'{CELLS}protocol = "small_bert"\ntask = "masked_lm"\nprepared = "data-bin"\n'


@pytest.mark.parametrize(
    ("text", "stages"),
    [(TRANSLATED, {"translate", "score", "translate test1", "score test1"}), (MEASURED, {"evaluate"})],
    ids=["translated", "measured"],
)
def test_a_cell_without_gpus_is_decoded_and_scored_on_the_cpu(text: str, stages: set[str], tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text(text)
    (tmp_path / "data-bin").mkdir()
    for name in ("dict.txt", "train.idx", "train.bin"):
        (tmp_path / "data-bin" / name).touch()
    grid = load(tmp_path / "grid.toml")
    for gpus, on_cpu in ((0, stages), (1, set())):
        (cell,) = cells(grid, corpus_of(grid, tmp_path), request_of(tmp_path), gpus)
        assert {stage.name for stage in cell.stages if "--cpu" in stage.request.command()} == on_cpu


@pytest.mark.parametrize(
    ("seeds", "averaged", "expected"),
    [
        ((1,), (1,), {1: 1, 2: 1}),  # the only seed there is
        ((1, 2), (1,), {1: 1, 2: 2}),  # the second is still being trained
        ((3,), (), {1: 3, 2: 3}),
    ],
)
def test_a_cell_begins_with_the_model_of_its_seed_or_of_the_only_one(
    seeds: tuple[int, ...], averaged: tuple[int, ...], expected: dict[int, int], tmp_path: Path
) -> None:
    pretrained = tmp_path / "masked" / "cells"
    for seed in seeds:
        (pretrained / f"pre_ln-1-s{seed}" / "checkpoints").mkdir(parents=True)
    for seed in averaged:
        (pretrained / f"pre_ln-1-s{seed}" / "average.pt").touch()
    (tmp_path / "grid.toml").write_text(f'pretrained = "masked"\nseeds = [1, 2]\n{TRANSLATED}')
    grid = load(tmp_path / "grid.toml")
    models = {cell.seed: cell.train.request.begin_with for cell in cells_of(grid, tmp_path)}
    assert models == {seed: pretrained / f"pre_ln-1-s{model}" / "average.pt" for seed, model in expected.items()}


def test_a_seed_that_one_family_lacks_is_not_replaced_by_another(tmp_path: Path) -> None:
    pretrained = tmp_path / "masked" / "cells"
    for name in ("pre_ln-1-s1", "pre_ln-1-s2", "post_ln-1-s1"):
        (pretrained / name).mkdir(parents=True)
    text = TRANSLATED.replace('"pre_ln"', '"pre_ln", "post_ln"')
    (tmp_path / "grid.toml").write_text(f'pretrained = "masked"\nseeds = [1, 2]\n{text}')
    cells = cells_of(load(tmp_path / "grid.toml"), tmp_path)
    models = {cell.name: cell.train.request.begin_with for cell in cells}
    assert len(models) == 4
    assert models == {name: pretrained / name / "average.pt" for name in models}
