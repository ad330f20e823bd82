"""Trainings that `realformer-nmt train` refuses before they begin."""

from pathlib import Path
from typing import Any

import pytest
from recipe_scripts.printed import dry_run, flags, train_options

from realformer_nmt.cli import main


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--gpus", 3], "other --gpus, another --max-tokens, or another --tokens-a-step, such as 24576"),
        (["--gpus", 3, "--tokens-a-step", 2], "2 tokens a step are not 3 GPUs x 1 tokens x a whole number; use"),
        (["--layers", "60x12"], "--layers 60x12: allowed is a number, such as 18, or encoder-decoder"),
        (["--arch", "realformer_wmt_en_fr_60l_12l"], "give the family, realformer, and its layers, 60-12;"),
        (["--arch", "realfromer"], "did you mean realformer?; one of your own needs --user-dir"),
        (["--", "--arch=transformer"], "--arch would not be recorded: give the family before the `--`"),
        (["--", "-atransformer"], "--arch would not be recorded: give the family before the `--`"),
        (["--", "--save-dir=x"], "--save-dir would not be recorded: give --folder"),
        (["--without", "share-all-embedding"], "did you mean share-all-embeddings?"),
        (["--nodes", 2, "--gpus", 2], "--nodes 2 need --master HOST:PORT"),
        (["--nodes", 2, "--node-rank", 2], "--node-rank 2 of --nodes 2: allowed is 0 to 1"),
        (["--gpus", 0, "--precision", "fp16"], "fp16 needs a GPU"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, capsys: Any, options: list[object], message: str) -> None:
    assert main(["train", *train_options(tmp_path, *options), "--dry-run"]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_run_does_not_begin_from_itself(tmp_path: Path, capsys: Any, toy_corpus: Path) -> None:
    model = tmp_path / "run" / "checkpoints" / "checkpoint_last.pt"
    model.parent.mkdir(parents=True)
    model.touch()
    words = ["train", *train_options(tmp_path, "--gpus", 0, "--from", tmp_path / "run", "--fresh", data=toy_corpus)]
    assert main(words) == 1
    assert f"--from {model} lies in --folder {tmp_path / 'run'}" in capsys.readouterr().err
    assert model.exists()


def test_embeddings_are_carried_over_from_a_run_alone(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "first.pt").touch()
    begun = ["--from", tmp_path / "first.pt", "--carry-embeddings", tmp_path / "old"]
    options = flags(dry_run(capsys, *train_options(tmp_path, *begun)))
    assert [options[name] for name in ("finetune-from-model", "carry-embeddings")] == [
        str(word) for word in begun[1::2]
    ]
    assert main(["train", *train_options(tmp_path, *begun[2:]), "--dry-run"]) == 1
    assert f"--carry-embeddings {tmp_path / 'old'} needs --from RUN" in capsys.readouterr().err


def test_a_length_within_the_warm_up_is_refused(tmp_path: Path, capsys: Any, toy_corpus: Path) -> None:
    assert main(["train", *train_options(tmp_path, "--gpus", "1", data=toy_corpus), "--dry-run"]) == 1
    assert "updates end within the warm-up of 8000: train longer" in capsys.readouterr().err


def test_more_gpus_than_there_are_are_refused(tmp_path: Path, capsys: Any, toy_corpus: Path) -> None:
    assert (
        main(["train", *train_options(tmp_path, "--gpus", 4096, "--tokens-a-step", 4096 * 8192, data=toy_corpus)]) == 1
    )
    assert "--gpus 4096, but" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["dict.txt", "train.log"])
def test_a_folder_with_files_of_others_is_left_as_it_is(
    name: str, tmp_path: Path, capsys: Any, toy_corpus: Path
) -> None:
    file = tmp_path / "run" / name
    file.parent.mkdir()
    file.write_text("mine\n")
    assert main(["train", *train_options(tmp_path, "--gpus", 0, data=toy_corpus)]) == 1
    assert "name another --folder" in capsys.readouterr().err
    assert [path.name for path in file.parent.iterdir()] == [name]
    assert file.read_text() == "mine\n"
