"""The line that says how far a training is, against updates that are counted and seconds that are set."""

import logging
from pathlib import Path
from types import SimpleNamespace

import pytest
from fairseq.data import BaseWrapperDataset
from fairseq.data.iterators import EpochBatchIterator, GroupedIterator
from programs.processes import said
from programs.runs import load_state
from programs.tiny_training import tiny_training

from realformer_nmt.fairseq_patches.messages import time_left

AT_ONCE = "import realformer_nmt\nfrom realformer_nmt.fairseq_patches.messages import time_left\ntime_left.FIRST = 0\n"


@pytest.mark.parametrize(("max_update", "planned", "seconds"), [(0, 12, 100), (5, 5, 30)])
def test_updates_of_all_and_the_time_left(
    max_update: int, planned: int, seconds: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Ten seconds an update; ten batches an epoch, three an update: four updates an epoch."""
    caplog.set_level(logging.INFO, time_left.__name__)
    monkeypatch.setattr(time_left, "time", SimpleNamespace(monotonic=lambda: 10 * done))
    cfg = SimpleNamespace(optimization=SimpleNamespace(max_epoch=3, max_update=max_update, update_freq=[3]))
    batches = EpochBatchIterator(BaseWrapperDataset(list(range(10))), list, [[number] for number in range(10)])
    clock, done = time_left.Clock(), 0
    trainer = SimpleNamespace(get_num_updates=lambda: done)
    for _ in range(3):
        for _ in GroupedIterator(batches.next_epoch_itr(shuffle=False), 3):
            done += 1
            assert clock.validate_and_save(lambda *words: words[-1], cfg, trainer, None, batches, "end") == "end"
    assert done == 12
    first, second, third, *_ = (line for line in caplog.messages if line.startswith("update"))
    assert first == f"update 2 of {planned}; time left: about 0:{seconds // 60:02}:{seconds % 60:02}"
    assert (second.split(" of ")[0], third.split(" of ")[0]) == ("update 3", "update 5")


def test_a_training_logs_its_planned_updates(toy_corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/__init__.py").write_text(AT_ONCE)
    command = tiny_training(toy_corpus, tmp_path / "mine", "--max-tokens", 400, "--max-epoch", 2)
    output = said([*command, "--save-dir", str(tmp_path / "run")], tmp_path)
    updates = load_state(tmp_path / "run/checkpoint_last.pt")["optimizer_history"][-1]["num_updates"]
    assert f"update 2 of {updates}; time left: about 0:00:" in output
