"""Devices of cells that run side by side."""

import os

import pytest

from realformer_nmt.comparison.running.local import slots


def test_each_gpu_is_one_cells_and_a_list_of_them_is_kept_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert [slot["CUDA_VISIBLE_DEVICES"] for slot in slots(3, 3)] == ["0", "1", "2"]
    assert [slot["CUDA_VISIBLE_DEVICES"] for slot in slots(2, 4)] == ["0", "1", "0", "1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,7")
    assert [slot["CUDA_VISIBLE_DEVICES"] for slot in slots(2, 2)] == ["5", "7"]


def test_cells_share_the_cores_unless_the_user_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = os.cpu_count() or 1
    assert slots(0, 1) == [{"OMP_NUM_THREADS": str(cores)}]
    assert slots(0, 4 * cores) == [{"OMP_NUM_THREADS": "1"}] * (4 * cores)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert slots(0, 2) == [{"OMP_NUM_THREADS": "3"}] * 2
