"""Bad labels are refused when fairseq's task loads them; fairseq takes them, or falls over them in training."""

from pathlib import Path
from typing import Any

import pytest
from fairseq import tasks
from fairseq.data import Dictionary, indexed_dataset
from omegaconf import OmegaConf

from realformer_nmt.common.errors import UserError

SENTENCES = ["a b", "b", "a"]


def write(folder: Path, split: str, lines: list[str], words: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dict.txt").write_text("".join(f"{word} 1\n" for word in words))
    dictionary = Dictionary.load(str(folder / "dict.txt"))
    builder = indexed_dataset.make_builder(f"{folder / split}.bin", impl="mmap", vocab_size=len(dictionary))
    for line in lines:
        builder.add_item(dictionary.encode_line(line, add_if_not_exist=False))
    builder.finalize(f"{folder / split}.idx")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for split in ("train", "train1"):
        write(tmp_path / "input0", split, SENTENCES, "ab")
        write(tmp_path / "label", split, ["x", "y", "x"], "xyz")
    return tmp_path


def load(data: Path, **options: object) -> Any:
    cfg = {"_name": "sentence_prediction", "data": str(data), "num_classes": 2, "regression_target": False, "seed": 1}
    names = {"classification_head_name": "sentence_classification_head", "no_shuffle": True}
    task = tasks.setup_task(OmegaConf.create({**cfg, **names, **options}))
    task.load_dataset("train", combine=True)
    return [list(task.dataset("train")[place]["target"]) for place in range(6)]


def test_classes_are_numbers_of_their_labels(data: Path) -> None:
    assert load(data) == [[0], [1], [0]] * 2


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["x", "y"], r"label/train\.idx has 5 lines for 6 sentences"),
        (["x", "x y", "y"], r"label/train\.idx: line 2 has 2 labels: allowed is one"),
        (["x", "unseen", "y"], r"label/train\.idx: line 2 has a label that its dictionary has not"),
        (["x", "y", "z"], r"label/train\.idx holds 3 labels or more: pass --num-classes 3"),
    ],
)
def test_labels_that_are_no_class_of_their_sentence_are_refused(data: Path, labels: list[str], message: str) -> None:
    write(data / "label", "train", labels, "xyz")
    with pytest.raises(UserError, match=message):
        load(data)


def test_as_many_second_sentences_as_first(data: Path) -> None:
    write(data / "input1", "train", SENTENCES, "ab")
    with pytest.raises(UserError, match=r"input1/train\.idx has 3 lines for 6 sentences"):
        load(data)


def test_numbers_are_read_as_they_stand(data: Path) -> None:
    (data / "label" / "train.label").write_text("1 -2.5\n3e2 4\n.5 6\n" * 2)
    assert load(data, regression_target=True) == [[1, -2.5], [300, 4], [0.5, 6]] * 2
