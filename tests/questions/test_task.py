"""Batches that fairseq's training gets of a file in SQuAD's format, and files that are refused before it."""

import json
from pathlib import Path
from typing import Any

import pytest
from fairseq import tasks
from omegaconf import OmegaConf

from realformer_nmt.common.errors import OptionError, UserError


def write(folder: Path, context: str, start: int) -> Path:
    answers = [{"text": "c d", "answer_start": start}]
    paragraph = {"context": context, "qas": [{"id": "1", "question": "a ?", "answers": answers}]}
    (folder / "train.json").write_text(json.dumps({"data": [{"paragraphs": [paragraph]}]}))
    (folder / "dict.txt").write_text("a 1\nb 1\nc 1\nd 1\ne 1\n")  # from 4 on; ? is unknown, 3
    return folder


def task(data: Path, **options: int) -> Any:
    defaults = {"_name": "question_answering", "data": str(data), "tokens_per_sample": 8, "stride": 2, "seed": 1}
    return tasks.setup_task(OmegaConf.create({**defaults, **options}))


def test_a_batch_is_windows_with_the_places_of_context_and_answer(tmp_path: Path) -> None:
    question_task = task(write(tmp_path, "a b c d e", 4))
    dataset = question_task.load_dataset("train")
    assert sorted(dataset.ordered_indices()) == [0, 1, 2]
    batch = dataset.collater([dataset[place] for place in range(3)])
    head = [0, 4, 3, 2, 2]
    assert batch["net_input"]["src_tokens"].tolist() == [[*head, 4, 5, 2], [*head, 6, 7, 2], [*head, 8, 2, 1]]
    assert batch["net_input"]["src_lengths"].tolist() == [8, 8, 7]
    assert batch["net_input"]["context"].tolist() == [5, 5, 5]
    assert batch["target"].tolist() == [[0, 0], [5, 6], [0, 0]]
    assert (batch["nsentences"], batch["ntokens"]) == (3, 23)
    assert question_task.source_dictionary.index("<mask>") == 9  # as the masked model's dictionary has it


def test_windows_that_cannot_be_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "a b c d e", 4)
    with pytest.raises(OptionError, match="--tokens-per-sample 7 is not possible: pass 8 or more"):
        task(tmp_path, tokens_per_sample=7)
    with pytest.raises(OptionError, match="--stride 0 is not possible: pass 1 or more"):
        task(tmp_path, stride=0)


def test_an_answer_in_another_place_ends_the_training_before_it_begins(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"train\.json, question 1: the answer 'c d' does not begin at character 3"):
        task(write(tmp_path, "a b c d e", 3)).load_dataset("train")
