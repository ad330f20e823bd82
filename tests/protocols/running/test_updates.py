"""The number of updates, against a count by hand; test_training.py holds it against real runs."""

from pathlib import Path
from typing import Any

import pytest
from fairseq.data.iterators import GroupedIterator

from realformer_nmt.cli import main
from realformer_nmt.common.errors import UserError
from realformer_nmt.protocols.running import updates


def lengths(data: Path) -> list[int]:
    """The longer side of each pair and its end mark, in fairseq's order: by source length, then by target length."""
    sides = [(data.parent / f"train.{side}").read_text().splitlines() for side in ("src", "tgt")]
    return [
        max(pair) for pair in sorted(zip(*([len(line.split()) + 1 for line in side] for side in sides), strict=True))
    ]


def batches(longest: list[int], max_tokens: int) -> int:
    """Count batches of as many padded sentences as fit, cut to a multiple of 8 if more than 8; the rest goes on."""
    count, waiting = 0, longest
    while waiting:
        size = 0
        while size < len(waiting) and max(waiting[: size + 1]) * (size + 1) <= max_tokens:
            size += 1
        count, waiting = count + 1, waiting[size // 8 * 8 or size :]
    return count


@pytest.mark.parametrize(("max_tokens", "gpus", "freq"), [(37, 1, 1), (1000, 2, 3)])
def test_updates_are_what_a_count_by_hand_says(
    toy_corpus: Path, max_tokens: int, gpus: int, freq: int, capsys: Any
) -> None:
    expected = -(-batches(lengths(toy_corpus), max_tokens) // gpus)
    expected = 5 * -(-expected // freq)
    capsys.readouterr()
    options = ["--gpus", gpus, "--max-tokens", max_tokens, "--update-freq", freq, "--epochs", 5]
    assert main(["updates", str(toy_corpus), *map(str, options)]) == 0
    assert int(capsys.readouterr().out) == expected


def length(data: Path, *words: object, ranks: int = 1) -> updates.Length:
    cfg = updates.parse([str(data), "--arch", "realformer", *map(str, words)])
    return updates.length(cfg, updates.set_up(cfg), ranks)


def test_what_ends_first_ends_the_training(toy_corpus: Path) -> None:
    per_epoch = length(toy_corpus, "--max-tokens", 1000, "--max-epoch", 1).updates
    assert length(toy_corpus, "--max-tokens", 1000, "--max-epoch", 3, "--max-update", 10).updates == 10
    assert length(toy_corpus, "--max-tokens", 1000, "--max-epoch", 3, "--max-update", 10**6).updates == 3 * per_epoch
    freqs = length(toy_corpus, "--max-tokens", 1000, "--max-epoch", 4, "--update-freq", "1,2")
    assert freqs.updates == per_epoch + 3 * -(-per_epoch // 2)
    with pytest.raises(UserError, match="has no end"):
        length(toy_corpus, "--max-tokens", 1000)


@pytest.mark.parametrize(("freq", "ranks"), [(1, 2), (3, 1), (4, 2)])
def test_a_remainder_that_fairseq_skips_is_not_counted(toy_corpus: Path, freq: int, ranks: int) -> None:
    words = ["--max-tokens", 100, "--max-epoch", 3, "--update-freq", freq, "--skip-remainder-batch"]
    cfg = updates.parse([str(toy_corpus), "--arch", "pre_ln_tiny", *map(str, words)])
    task = updates.set_up(cfg)
    task.load_dataset("train")
    epochs = task.get_batch_iterator(
        task.dataset("train"), max_tokens=100, max_positions=(1024, 1024), required_batch_size_multiple=8,
        num_shards=ranks, skip_remainder_batch=True,
    )  # fmt: skip
    iterated = [step for _ in range(3) for step in GroupedIterator(epochs.next_epoch_itr(), freq, True)]
    assert updates.length(cfg, task, ranks).updates == len(iterated)


def test_an_epoch_without_an_update_is_refused(toy_corpus: Path) -> None:
    with pytest.raises(UserError, match="too few for one update"):
        length(toy_corpus, "--max-tokens", 1000, "--max-epoch", 1, "--update-freq", 999, "--skip-remainder-batch")


@pytest.mark.parametrize("source", ["random", "dot"])
def test_pairs_longer_than_the_tables_are_not_counted(toy_corpus: Path, source: str) -> None:
    """The model that fairseq builds says its positions."""
    words = ["--max-tokens", "100", "--max-epoch", "1", "--score-source", source, "--score-length", "8"]
    cfg = updates.parse([str(toy_corpus), "--arch", "pre_ln_tiny", *words])
    task = updates.set_up(cfg)
    assert updates.longest(cfg, task) == task.build_model(cfg.model).max_positions()
    short = [number for number in lengths(toy_corpus) if source == "dot" or number <= 8]
    assert updates.length(cfg, task, 1).updates == batches(short, 100)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path, capsys: Any) -> None:
    assert main(["updates", str(tmp_path / "none"), "--max-tokens", "100", "--epochs", "1"]) == 1
    assert "none is not a folder: give the data-bin" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--max-tokens", "1"], "no sentence pair is short enough for --max-tokens"),
        (["--max-tokens", str(10**30)], "allowed is 2,147,483,647 at most"),
    ],
)
def test_what_fits_no_batch_is_said_in_a_line(toy_corpus: Path, options: list[str], message: str, capsys: Any) -> None:
    assert main(["updates", str(toy_corpus), *options, "--epochs", "1"]) == 1
    assert message in capsys.readouterr().err
