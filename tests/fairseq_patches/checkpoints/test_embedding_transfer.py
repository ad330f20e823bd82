"""--carry-embeddings as fairseq's own trainer begins with it: rows of two models, piece by piece."""

import logging
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from fairseq import checkpoint_utils, tasks
from fairseq.data import Dictionary
from fairseq.trainer import Trainer
from programs.stock_runs import load
from tiny_models import saved

from realformer_nmt.common.errors import UserError
from realformer_nmt.fairseq_patches.messages.quiet import quiet
from realformer_nmt.protocols.running import updates

OURS = ["a", "new", "e", "c", "other", "l"]  # of the letters a to l of the toy corpus four, in another order
TABLES = {"encoder.embed_tokens": "src", "decoder.embed_tokens": "tgt", "decoder.output_projection": "tgt"}


@pytest.fixture(scope="module")
def first(toy_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved.save(tmp_path_factory.mktemp("first") / "first.pt", saved.state(toy_corpus))


@pytest.fixture
def data(toy_corpus: Path, tmp_path: Path) -> Path:
    """Dictionaries of another vocabulary; a training that is not begun needs no more."""
    return other_words(toy_corpus, tmp_path / "data-bin", src=OURS, tgt=OURS)


def other_words(corpus: Path, folder: Path, **pieces: list[str]) -> Path:
    shutil.copytree(corpus, folder)
    for language, words in pieces.items():
        (folder / f"dict.{language}.txt").write_text("".join(f"{word} 1\n" for word in words))
    return folder


def begun(data: Path, *options: object, size: tuple[str, ...] = ("--arch", "realformer_tiny", *saved.SIZE)) -> Any:
    """A trainer, after fairseq has looked for what it begins from."""
    save = data.parent / "checkpoints"
    words = [str(data), *size, *saved.OPTIMISER, "--cpu", "--save-dir", str(save), *map(str, options)]
    cfg = updates.parse(words)
    save.mkdir(exist_ok=True)
    with quiet():
        task = tasks.setup_task(cfg.task)
    torch.manual_seed(2)
    trainer = Trainer(cfg, task, task.build_model(cfg.model), task.build_criterion(cfg.criterion))
    trainer.get_train_iterator = lambda **_: Mock(epoch=1)  # no data is read
    trainer.fresh = {name: weight.clone() for name, weight in trainer.model.state_dict().items()}
    checkpoint_utils.load_checkpoint(cfg.checkpoint, trainer)
    return trainer


def carried(trainer: Any, before: dict[str, torch.Tensor], old: Path, new: Path) -> dict[str, torch.Tensor]:
    """Return the weights to expect: the model's before, but in each table a row a piece, fresh where it is new."""
    expected = dict(before)
    for table, language in TABLES.items():
        name = f"{table}.weight"
        old_dictionary, new_dictionary = (
            Dictionary.load(str(folder / f"dict.{language}.txt")) for folder in (old, new)
        )
        rows = [
            before[name][old_dictionary.index(piece)] if piece in old_dictionary else trainer.fresh[name][row]
            for row, piece in enumerate(new_dictionary.symbols)
        ]
        expected[name] = torch.stack(rows)
    return expected


def exactly(actual: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> bool:
    return actual.keys() == expected.keys() and all(torch.equal(actual[name], expected[name]) for name in expected)


def test_rows_follow_their_pieces_in_one_tied_table(
    first: Path, toy_corpus: Path, data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        trainer = begun(data, "--finetune-from-model", first, "--carry-embeddings", toy_corpus)
    before, now = load(first)["model"], trainer.model.state_dict()
    assert exactly(now, carried(trainer, before, toy_corpus, data))
    assert not exactly(now, trainer.fresh)
    assert f"carried over from {first}: 4 of 6 source subwords, 4 of 6 target subwords" in caplog.text
    decoder = trainer.model.decoder
    assert decoder.output_projection.weight is decoder.embed_tokens.weight is trainer.model.encoder.embed_tokens.weight


def test_a_training_that_goes_on_takes_its_own_weights(
    first: Path, toy_corpus: Path, data: Path, tmp_path: Path
) -> None:
    state = saved.state(data)
    state["optimizer_history"][-1]["num_updates"] = 0  # it has no state of an optimizer
    (tmp_path / "checkpoints").mkdir()
    saved.save(tmp_path / "checkpoints/checkpoint_last.pt", state)
    trainer = begun(data, "--finetune-from-model", first, "--carry-embeddings", toy_corpus)
    assert all(torch.equal(weight, state["model"][name]) for name, weight in trainer.model.state_dict().items())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--finetune-from-model", "MODEL"], "another source dictionary than that of NEW"),
        (["--finetune-from-model", "MODEL", "--carry-embeddings", "NEW"], "another source dictionary than that of NEW"),
        (["--finetune-from-model", "MODEL", "--carry-embeddings", "absent"], "absent/dict.src.txt"),
        (["--carry-embeddings", "OLD"], "--carry-embeddings OLD needs --finetune-from-model FILE"),
    ],
)
def test_what_does_not_go_together_is_refused(
    options: list[str], message: str, first: Path, toy_corpus: Path, data: Path
) -> None:
    places = {"MODEL": str(first), "OLD": str(toy_corpus), "NEW": str(data)}
    with pytest.raises(UserError) as refused:
        begun(data, *(places.get(word, word) for word in options))
    for name, place in places.items():
        message = message.replace(name, place)
    assert message in str(refused.value)


@pytest.mark.parametrize("words", [list("abc"), list("abcdefghijklmnop")])
def test_dictionaries_of_another_length_than_the_tables_are_refused(
    words: list[str], toy_corpus: Path, tmp_path: Path
) -> None:
    """The checkpoint does not tell whose words it knows."""
    other = other_words(toy_corpus, tmp_path / "other", src=words)
    model = saved.save(tmp_path / "first.pt", {**saved.state(toy_corpus), "task_state": {}})
    with pytest.raises(
        UserError, match=rf"first\.pt knows \d+ source subwords, and .*/other has {len(words) + 4}: give"
    ):
        begun(other_words(toy_corpus, tmp_path / "new"), "--finetune-from-model", model, "--carry-embeddings", other)


@pytest.mark.parametrize(
    ("languages", "message"),
    [(["src/../../secret", "tgt"], "'src/../../secret' names no language"), (["src"], "is of 1 languages")],
)
def test_languages_of_a_checkpoint_choose_no_other_file(
    languages: list[str], message: str, toy_corpus: Path, tmp_path: Path
) -> None:
    old = other_words(toy_corpus, tmp_path / "old")
    (old / "dict.src").mkdir()
    shutil.copyfile(old / "dict.src.txt", tmp_path / "secret.txt")
    content = saved.state(old)
    state = {"task_state": {**content["task_state"], "languages": languages}}
    model = saved.save(tmp_path / "of_elsewhere.pt", {**content, **state})
    with pytest.raises(UserError, match=message):
        begun(old, "--finetune-from-model", model, "--carry-embeddings", old)


def test_what_was_trained_so_is_loaded_without_the_other_dictionaries(data: Path, tmp_path: Path) -> None:
    content = saved.state(data, "--carry-embeddings", "/absent/data-bin")
    model = saved.save(tmp_path / "of_a_training.pt", content)
    (loaded,), *_ = checkpoint_utils.load_model_ensemble_and_task([str(model)])
    assert all(torch.equal(weight, content["model"][name]) for name, weight in loaded.state_dict().items())
