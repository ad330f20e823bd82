"""The trackers' own packages read what trainings log: `make trackers` installs them and runs this."""

import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grids import comparisons
from programs import commands

from realformer_nmt.checkpoints import run_files
from realformer_nmt.comparison.records.curves import Curves

BLOCK = 32768  # bytes of the log format of LevelDB, in which W&B writes
HEADER = struct.Struct("<IHB")  # of a part of a record there: checksum, length, kind
ENDS = (1, 4)  # kinds: a record's only part, and its last
Logged = dict[str, dict[int, float]]  # by update


@pytest.fixture(scope="module")
def cell(toy_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a cell of `compare`, which logs to both trackers; nothing is sent."""
    pytest.importorskip("wandb")
    folder = tmp_path_factory.mktemp("tracked")
    grid = comparisons.write_grid(folder, toy_corpus)
    text = grid.read_text().replace("stop_early = true", "")
    for old, new in comparisons.ONLY_STUCK.items():
        text = text.replace(old, new)
    grid.write_text(text)
    words = ["compare", grid, "--folder", folder / "runs", "--gpus", 0, "--tensorboard", "--wandb-project", "depth"]
    environment = {
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(commands.REPOSITORY), *sys.path]),
        "WANDB_MODE": "offline",
    }
    subprocess.run([*commands.OURS, *map(str, words)], cwd=folder, env={**os.environ, **environment}, check=True)
    assert {path.name for path in folder.iterdir()} == {"grid.toml", "runs"}
    return folder / "runs" / "cells" / comparisons.STUCK


@pytest.fixture(scope="module")
def written(cell: Path) -> Logged:
    """The losses in fairseq's own log."""
    curves = Curves(cell)
    losses = {
        name: {int(point["update"]): point["nll_loss"] for point in points}
        for name, points in (("train_inner", curves.train), ("valid", curves.valid))
    }
    assert len(losses["train_inner"]) > 9
    assert losses["valid"]
    return losses


def records(file: Path) -> Iterator[Any]:
    wandb = pytest.importorskip("wandb.proto.wandb_internal_pb2")
    data, at, record = file.read_bytes(), 7, b""
    while at + HEADER.size <= len(data):
        if BLOCK - at % BLOCK < HEADER.size:
            at += BLOCK - at % BLOCK
        _, length, kind = HEADER.unpack_from(data, at)
        at += HEADER.size + length
        record += data[at - length : at]
        if kind in ENDS:
            yield wandb.Record.FromString(record)
            record = b""


def test_weights_and_biases_has_one_run_of_the_cells_name_with_the_losses_of_the_log(
    cell: Path, written: Logged
) -> None:
    (run,) = (cell / run_files.WANDB).glob("offline-run-*")
    (file,) = run.glob("*.wandb")
    entries = list(records(file))
    (begun,) = (each.run for each in entries if each.HasField("run"))
    assert (begun.project, begun.display_name) == ("depth", cell.name)
    assert [each.exit.exit_code for each in entries if each.HasField("exit")] == [0]
    logged: Logged = {name: {} for name in written}
    for each in entries:
        values = {item.key or item.nested_key[0]: item.value_json for item in each.history.item}
        for name in logged:
            if f"{name}/nll_loss" in values:
                logged[name][int(values["_step"])] = float(values[f"{name}/nll_loss"])
    assert logged == written


@pytest.mark.parametrize("name", ["train_inner", "valid"])
def test_tensorboard_has_the_losses_of_the_log(cell: Path, written: Logged, name: str) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(cell / run_files.TENSORBOARD / name))
    events.Reload()
    assert {event.step: event.value for event in events.Scalars("nll_loss")} == pytest.approx(written[name])
