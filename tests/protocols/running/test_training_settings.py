"""Options of fairseq-train that make another training, and those that do not."""

import functools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from programs import argv

from realformer_nmt.common.stages.provenance import differences, made_from
from realformer_nmt.common.user_dir import PACKAGE
from realformer_nmt.data_bins import subsets
from realformer_nmt.protocols import settings
from realformer_nmt.protocols.running.planned_training import PlannedTraining
from realformer_nmt.protocols.train import TrainRequest

BASE = ["--arch", "realformer", "--layers", "1", "--protocol", "small", "--gpus", "0", "--max-tokens", "500"]
BASE += ["--tokens-a-step", "1000"]


def parse(data: Path, *options: str) -> Any:
    return PlannedTraining(argv.read(TrainRequest, "--data", data, "--folder", "run", *BASE, *options)).cfg


def compute(data: Path, *options: str, ranks: int = 1) -> dict[str, object]:
    return settings.settings(parse(data, *options), ranks, "fp32")


@functools.cache
def plain(data: Path) -> dict[str, object]:
    return compute(data)


def changed(data: Path, *options: str) -> list[str]:
    return differences(made_from(plain(data), {}), made_from(compute(data, *options), {}))


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        (["--", "--dropout", "0.4"], "dropout was 0.1, is now 0.4"),
        (["--", "--lr", "0.5"], "lr was [0.001], is now [0.5]"),
        (["--", "--residual-topology", "pre"], "residual_topology was post, is now pre"),
        (["--", "--user-dir", str(Path(__file__).parent)], f"user_dir was None, is now {Path(__file__).parent}"),
        (["--tokens-a-step", "1500"], "tokens_a_step was [1000], is now [1500]"),
        (["--epochs", "2"], "max_epoch was 30, is now 2"),
    ],
)
def test_what_changes_the_training_is_a_difference(toy_corpus: Path, options: list[str], difference: str) -> None:
    assert difference in changed(toy_corpus, *options)


def test_plain_heads_are_not_recorded_so_that_trainings_of_before_the_option_continue(toy_corpus: Path) -> None:
    assert "heads" not in plain(toy_corpus)
    assert compute(toy_corpus, "--", "--heads", "gated")["heads"] == "gated"


@pytest.mark.parametrize(
    "options",
    [
        ["--max-tokens", "250"],
        ["--curves"],
        ["--average", "2"],
        ["--", "--num-workers", "4"],
        ["--", "--user-dir", str(PACKAGE)],
        ["--", "--keep-last-epochs", "9"],
    ],
)
def test_places_logs_and_the_split_of_a_step_are_none(toy_corpus: Path, options: list[str]) -> None:
    assert changed(toy_corpus, *options) == []


def test_a_step_is_the_same_on_more_devices(toy_corpus: Path) -> None:
    alone = compute(toy_corpus)["tokens_a_step"]
    assert alone == compute(toy_corpus, "--", "--update-freq", "1", ranks=2)["tokens_a_step"] == [1000]


@pytest.mark.parametrize("options", [["--from", "RUN"], ["--", "--continue-once", "RUN/average.pt"]])
def test_inputs_are_the_data_and_what_the_training_begins_from(
    toy_corpus: Path, tmp_path: Path, options: list[str]
) -> None:
    (tmp_path / "average.pt").touch()
    cfg = parse(toy_corpus, *(word.replace("RUN", str(tmp_path)) for word in options))
    names = {path.name for path in toy_corpus.iterdir() if path.name.startswith(("train.", "valid.", "dict."))}
    assert set(settings.inputs(cfg)) == {*names, "average.pt"}
    assert len(names) == 10


@pytest.mark.parametrize(
    ("options", "beginning"),
    [
        (["--from", "MODEL"], "finetune_from_model"),
        (["--from", "MODEL", "--carry-embeddings", "old"], "finetune_from_model carry_embeddings"),
        (["--", "--restore-file", "MODEL"], "restore_file"),
    ],
)
def test_a_training_that_begins_from_a_checkpoint_is_not_one_from_the_start(
    toy_corpus: Path, tmp_path: Path, options: list[str], beginning: str
) -> None:
    (tmp_path / "a.pt").touch()
    words = [word.replace("MODEL", str(tmp_path / "a.pt")) for word in options]
    assert changed(toy_corpus, *words) == [f"begun_by was nothing, is now {beginning}"]
    begun = made_from(compute(toy_corpus, *words), {})
    assert differences(begun, made_from(plain(toy_corpus), {})) == [f"begun_by was {beginning}, is now nothing"]


def files(data: str, combines: bool | None = None) -> dict[str, Path]:
    cfg = SimpleNamespace(
        task=SimpleNamespace(_name="translation", data=data),
        dataset=SimpleNamespace(train_subset="train", valid_subset="valid", combine_valid_subsets=combines),
        common=SimpleNamespace(user_dir=None),
        checkpoint={},
    )
    return settings.inputs(cfg)


def test_parts_of_a_subset_are_its_files_too(tmp_path: Path) -> None:
    names = ["train.a-b.a.idx", "train1.a-b.a.bin", "trainer.a-b.a.idx", "valid.a-b.a.idx", "train.a-b.a.txt"]
    for name in names:
        (tmp_path / name).touch()
    assert list(subsets.files(tmp_path, joined=["train"])) == ["train.a-b.a.idx", "train1.a-b.a.bin"]


@pytest.mark.parametrize(("combines", "expected"), [(True, ["valid", "valid1"]), (None, ["valid"])])
def test_validation_data_are_joined_by_combine_val_alone(
    tmp_path: Path, combines: bool | None, expected: list[str]
) -> None:
    for name in ("train", "train1", "valid", "valid1"):
        (tmp_path / f"{name}.a-b.a.idx").touch()
    assert list(files(str(tmp_path), combines)) == [f"{name}.a-b.a.idx" for name in ("train", "train1", *expected)]


def test_every_shard_is_an_input(tmp_path: Path) -> None:
    """fairseq trains an epoch on each; their files have the same names."""
    names = ["dict.a.txt", "train.a-b.a.idx", "train.a-b.a.bin"]
    for shard in ("one", "two"):
        (tmp_path / shard).mkdir()
        for name in names:
            (tmp_path / shard / name).touch()
    expected = {tmp_path / shard / name for shard in ("one", "two") for name in names}
    assert set(files(f"{tmp_path}/one:{tmp_path}/two").values()) == expected
    assert set(files(f"{tmp_path}/one")) == set(names)
