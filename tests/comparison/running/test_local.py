"""Devices of cells that run side by side."""

import errno
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grids.comparisons import DONE
from grids.grid_cells import stub

from realformer_nmt.cli import main
from realformer_nmt.common.files.folder_lock import HeldError, locked
from realformer_nmt.comparison.running import local
from realformer_nmt.comparison.running.cell_run import Progress
from realformer_nmt.comparison.running.local import slots


def test_each_gpu_is_one_cells_and_a_list_of_them_is_kept_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert [slot["CUDA_VISIBLE_DEVICES"] for slot in slots(3, 3)] == ["0", "1", "2"]
    assert [slot["CUDA_VISIBLE_DEVICES"] for slot in slots(2, 4)] == ["0", "1", "0", "1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,7")
    assert [slot["CUDA_VISIBLE_DEVICES"] for slot in slots(2, 2)] == ["5", "7"]


def test_cells_share_the_cores_unless_the_user_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cores that this process may use: a cluster, a container or taskset may leave it fewer than there are."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert slots(0, 1) == [{"OMP_NUM_THREADS": "6"}]
    assert slots(0, 2) == [{"OMP_NUM_THREADS": "3"}] * 2
    assert slots(0, 24) == [{"OMP_NUM_THREADS": "1"}] * 24
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert slots(0, 2) == [{"OMP_NUM_THREADS": "3"}] * 2


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (HeldError("another process runs it"), "another process runs it"),
        (OSError(errno.ESTALE, "Stale file handle", "curves.jsonl"), "curves.jsonl: Stale file handle; fix that .*"),
    ],
)
def test_an_error_of_one_cell_does_not_end_the_others(
    error: Exception, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cells: list[Any] = [stub(tmp_path, family=family) for family in ("admin", "pre_ln", "post_ln")]
    shown: list[tuple[str, str]] = []

    def run(cell: Any, _: object) -> Iterator[Progress]:
        if cell.family == "admin":
            raise error
        yield from map(Progress, ("train", "done"))

    monkeypatch.setattr(local, "run", run)
    monkeypatch.setattr(local, "BETWEEN_LOOKS", 0)
    (line,) = local.launch(cells, [{}, {}], lambda cell, progress: shown.append((cell.family, progress.state)))
    assert re.fullmatch(f"admin-6-s1: {message}", line)
    assert sorted(shown) == [(family, state) for family in ("post_ln", "pre_ln") for state in ("done", "train")]


@pytest.mark.parametrize("folder", ["held/runs", "without/its/reference/runs"])
def test_a_cell_that_another_process_runs_leaves_the_others_their_report(
    folder: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A record locates its reference from its own folder: a deeper copy has no report, and says so beside the error."""
    runs = root.parent / folder
    shutil.copytree(root / "runs", runs)
    cell = stub(runs, family="post_ln", layers="1")
    report = runs / "report.html"
    for file in (cell.record_file, cell.folder / "run.json", report):
        file.unlink()
    with locked(cell.lock, "runs"):
        assert main(["compare", str(root / "grid.toml"), "--folder", str(runs), "--gpus", "0"]) == 1
    error = capsys.readouterr().err
    assert f"realformer-nmt: {DONE[0]}: {cell.folder}: another process runs it" in error
    assert report.exists() != ("is missing or has changed" in error)
    assert report.exists() == (folder == "held/runs")
