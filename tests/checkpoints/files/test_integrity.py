"""Whole checkpoints are distinguished from others by what torch writes."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from realformer_nmt.checkpoints.files import integrity


def checkpoint(path: Path, updates: int, optimizer: bool = True) -> Path:
    state = {"last_optimizer_state": {"m": torch.ones(3)}} if optimizer else {}
    torch.save({"model": {"w": torch.ones(999)}, "optimizer_history": [{"num_updates": updates}], **state}, path)
    return path


def flipped(whole: bytes) -> bytes:
    """One bit, amid a tensor of ones."""
    place = whole.index(torch.ones(64).numpy().tobytes()) + 130
    return whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda whole: whole[:0],
    "without its last byte": lambda whole: whole[:-1],
    "zeros": lambda whole: bytes(len(whole)),
    "one bit in a tensor": flipped,
    "its first four bytes": lambda whole: bytes(4) + whole[4:],
    "the sign of its end": lambda whole: whole[:-22] + b"Q" + whole[-21:],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_seen(tmp_path: Path, damage: str) -> None:
    path = checkpoint(tmp_path / "checkpoint_last.pt", 3)
    assert not integrity.is_cut(path)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert integrity.is_cut(path)
    assert integrity.describe(path).endswith("bytes, cut off or damaged)")


def test_one_of_before_torch_1_6_is_whole_and_a_text_is_not(tmp_path: Path) -> None:
    old, text = tmp_path / "old.pt", tmp_path / "text.pt"
    torch.save({"model": {"w": torch.ones(9)}}, old, _use_new_zipfile_serialization=False)
    text.write_text("a text\n")
    assert [integrity.is_cut(path) for path in (old, text, tmp_path / "missing.pt")] == [False, True, False]
    old.write_bytes(old.read_bytes()[:-1])
    assert integrity.is_cut(old)


def test_the_newest_is_the_one_that_was_trained_longest(tmp_path: Path) -> None:
    """Name and age do not count, nor does a file that was cut off or from which no training can go on."""
    for name, updates in {"checkpoint9.pt": 10, "checkpoint_1_30.pt": 30, "checkpoint2.pt": 20}.items():
        checkpoint(tmp_path / name, updates)
    averaged, cut = checkpoint(tmp_path / "average.pt", 40, optimizer=False), checkpoint(tmp_path / "cut.pt", 50)
    cut.write_bytes(cut.read_bytes()[:-5])
    (tmp_path / "notes.pt").write_text("no checkpoint")
    paths = sorted(tmp_path.iterdir())
    assert integrity.newest(paths) == tmp_path / "checkpoint_1_30.pt"
    assert integrity.newest([averaged, cut]) is None
    assert "nothing to resume from" in integrity.describe(averaged)
    assert "30 updates" in integrity.describe(tmp_path / "checkpoint_1_30.pt")
