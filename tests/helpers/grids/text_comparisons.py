"""Comparisons of tiny models of one side on text_corpora's texts: of masked models and language models."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from fixture_types import Once
from programs.program import realformer_nmt

GRID = """
task = "{task}"
families = {families}
layers = ["1"]
protocol = "{protocol}"
subsets = ["valid"]

[train]
{side}-embed-dim = 32
{side}-ffn-embed-dim = 64
dropout = 0.0
attention-dropout = 0.0
lr = 1e-2
warmup-updates = 20
num-workers = 0
log-interval = 5

[budget]
updates = 160
tokens-a-step = 400
max-tokens = 400
"""
MASKED = {"task": "masked_lm", "families": ["post_ln", "pre_ln"], "protocol": "small_bert", "side": "encoder"}
LANGUAGE = {"task": "language_modeling", "families": ["pre_ln"], "protocol": "small_lm", "side": "decoder"}


def compared(once: Once, data: Path) -> Path:
    def compare(root: Path) -> None:
        for grid in (MASKED, LANGUAGE):
            file = root / f"{grid['task']}.toml"
            file.write_text(GRID.format(**{**grid, "families": json.dumps(grid["families"])}))
            run(root, str(grid["task"]), data)

    return once("compared_text", compare)


def run(root: Path, task: str, data: Path) -> None:
    done = realformer_nmt("compare", *words(root, task, data))
    assert done.returncode == 0, done.stderr


def words(root: Path, task: str, data: Path, *more: object) -> list[object]:
    return [root / f"{task}.toml", "--folder", root / task, "--prepared", data, "--gpus", 0, "--jobs", 2, *more]


def run_of(root: Path, task: str, cell: str) -> tuple[Path, dict[str, Any]]:
    folder = root / task / "cells" / cell
    return folder, json.loads((folder / "run-valid.json").read_text())


def rows_of(folder: Path) -> np.ndarray:
    return np.loadtxt(folder / "run-valid.sequences.tsv")
