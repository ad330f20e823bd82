"""Selection of the checkpoints of a folder that are averaged."""

from pathlib import Path
from typing import Any

import pytest
import torch
from programs import argv
from tiny_models.snapshots import CFG, save

from realformer_nmt.checkpoints.average import AverageRequest
from realformer_nmt.checkpoints.averaging import select
from realformer_nmt.checkpoints.selection import EPOCH, UPDATE, best, last
from realformer_nmt.common.errors import UserError


def test_the_last_and_the_best_are_found_by_number_not_by_name(tmp_path: Path) -> None:
    names = ["checkpoint9.pt", "checkpoint10.pt", "checkpoint2.pt", "checkpoint_best.pt"]
    names += ["checkpoint_1_900.pt", "checkpoint_2_1000.pt", "checkpoint10.pt.part"]
    for name in names:
        (tmp_path / name).touch()
    assert [path.name for path in last(tmp_path, 2, EPOCH)] == ["checkpoint9.pt", "checkpoint10.pt"]
    assert [path.name for path in last(tmp_path, 2, EPOCH, until=9)] == ["checkpoint2.pt", "checkpoint9.pt"]
    assert [path.name for path in last(tmp_path, 1, UPDATE)] == ["checkpoint_2_1000.pt"]
    with pytest.raises(UserError, match=r"asked for 4 epoch checkpoints, found 3 in .*: checkpoint2\.pt"):
        last(tmp_path, 4, EPOCH)
    scores = ["9.5000", "10.2511", "10.2519", "2.0000"]  # to three decimals, then a random digit
    for maximise, best_scores in [(True, ["10.2511", "10.2519"]), (False, ["2.0000", "9.5000"])]:
        cfg = {**CFG, "checkpoint": {"maximize_best_checkpoint_metric": maximise}}
        for score in scores:
            save(tmp_path / f"checkpoint.best_bleu_{score}.pt", {"w": torch.ones(1)}, cfg=cfg)
        paths = best(tmp_path, 2)
        assert sorted(path.name for path in paths) == [f"checkpoint.best_bleu_{score}.pt" for score in best_scores]
    save(tmp_path / "checkpoint.best_loss_1.0000.pt", {"w": torch.ones(1)})
    with pytest.raises(UserError, match="the best by bleu and by loss: name the files"):
        best(tmp_path, 2)


def test_the_best_may_be_below_zero(tmp_path: Path) -> None:
    """Matthews' coefficient is, where a model is worse than chance."""
    cfg = {**CFG, "checkpoint": {"maximize_best_checkpoint_metric": True}}
    paths = [tmp_path / f"checkpoint.best_mcc_{score}.pt" for score in ("-20.0000", "-3.5001", "1.0000")]
    for path in paths:
        save(path, {"w": torch.ones(1)}, cfg=cfg)
    assert [best(tmp_path, number) for number in (2, 3)] == [paths[1:], paths]


@pytest.mark.parametrize(
    ("update", "in_epoch", "epochs", "updates"),
    [  # two epochs of 100 updates, a checkpoint every 50; where checkpoint_last.pt stands
        (230, 30, ["checkpoint2.pt", "checkpoint_last.pt"], ["checkpoint_2_150.pt", "checkpoint_last.pt"]),
        (200, 0, ["checkpoint1.pt", "checkpoint2.pt"], ["checkpoint_2_150.pt", "checkpoint_last.pt"]),
        (150, 50, None, ["checkpoint_1_50.pt", "checkpoint_2_150.pt"]),  # of an epoch that it has not ended
    ],
)
def test_where_the_training_stands_counts_once(
    tmp_path: Path, update: int, in_epoch: int, epochs: list[str] | None, updates: list[str]
) -> None:
    def stands(epoch: int, inside: int) -> dict[str, Any]:
        return {"extra_state": {"train_iterator": {"epoch": epoch, "iterations_in_epoch": inside}}}

    model = {"w": torch.ones(1)}
    for epoch in (1, 2):
        save(tmp_path / f"checkpoint{epoch}.pt", model, 100 * epoch, **stands(epoch + 1, 0))
        inside = 100 * epoch - 50
        save(tmp_path / f"checkpoint_{epoch}_{inside}.pt", model, inside, **stands(epoch, 50))
    save(tmp_path / "checkpoint_last.pt", model, update, **stands(update // 100 + 1, in_epoch))
    if epochs is None:
        with pytest.raises(
            UserError, match=r"checkpoint2\.pt is of 200 updates, but checkpoint_last\.pt beside it of 150"
        ):
            last(tmp_path, 2, EPOCH)
    else:
        assert [path.name for path in last(tmp_path, 2, EPOCH)] == epochs
    assert [path.name for path in last(tmp_path, 2, UPDATE)] == updates
    assert [path.name for path in last(tmp_path, 1, EPOCH, until=1)] == ["checkpoint1.pt"]
    assert [path.name for path in last(tmp_path, 1, UPDATE, until=100)] == ["checkpoint_1_50.pt"]
    with pytest.raises(UserError, match="asked for 4 epoch checkpoints"):
        last(tmp_path, 4, EPOCH)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{}"], "choose from it with --last N"),
        (["{}", "{}", "--last", "1"], "take one folder"),
        (["{}/a.pt", "{}/a.pt"], "is given twice"),
        (["{}/a.pt", "--until", "3"], "--until goes with --last"),
        (["{}", "--best", "1", "--until", "3"], "--until goes with --last"),
        (["{}", "--last", "0"], "--last 0: allowed is 1 or more"),
        (["{}/absent", "--last", "1"], "is not a folder"),
    ],
)
def test_a_selection_that_means_nothing_is_refused(tmp_path: Path, arguments: list[str], message: str) -> None:
    words = [argument.format(tmp_path) for argument in arguments]
    with pytest.raises(UserError, match=message):
        select(argv.read(AverageRequest, *words, "--output", "x.pt"))
