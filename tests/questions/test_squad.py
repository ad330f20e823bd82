"""A file that is not in SQuAD's format is refused in words."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from realformer_nmt.common.errors import UserError
from realformer_nmt.questions import squad

ASKED = {"id": "1", "question": "Who?", "answers": [{"text": "größer", "answer_start": 2}]}
CONTENT = {"version": "1.1", "data": [{"title": "t", "paragraphs": [{"context": "x größer", "qas": [ASKED]}]}]}


def write(path: Path, place: tuple[str | int, ...], value: Any) -> Path:
    content: Any = copy.deepcopy(CONTENT)
    inner = content
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    path.write_text(json.dumps(content))
    return path


QUESTIONS = ("data", 0, "paragraphs", 0, "qas")
ANSWER = (*QUESTIONS, 0, "answers", 0)


def test_both_versions_are_read(tmp_path: Path) -> None:
    first = squad.read(write(tmp_path / "first", ("version",), "1.1"))
    assert first == [squad.Question("1", "Who?", "x größer", (squad.Answer("größer", 2),), False)]
    squad.check_in_place(tmp_path / "first", first)
    impossible = {**ASKED, "is_impossible": True, "answers": [], "plausible_answers": ASKED["answers"]}
    (second,) = squad.read(write(tmp_path / "second", (*QUESTIONS, 0), impossible))
    assert (second.answers, second.may_have_none) == ((), True)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("data",), {}, r"holds no question"),
        (("data", 0), "text", r"has an unexpected format"),
        ((*QUESTIONS, 0, "id"), 7, r"has an unexpected format: Expected `str`, got `int`"),
        ((*ANSWER, "answer_start"), True, r"has an unexpected format: Expected `int`, got `bool`"),
        ((*QUESTIONS, 0, "question"), "\ud800", r"has an unexpected format"),
        (QUESTIONS, [ASKED, ASKED], r"holds two questions of one id"),
        (QUESTIONS, [], r"holds no question"),
        ((*ANSWER, "answer_start"), 3, r"question 1: the answer 'größer' does not begin at character 3"),
        ((*ANSWER, "text"), "", r"question 1: the answer '' does not begin"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, place: tuple[str | int, ...], value: Any, message: str) -> None:
    file = write(tmp_path / "train.json", place, value)
    with pytest.raises(UserError, match=message) as raised:
        squad.check_in_place(file, squad.read(file))
    assert str(file) in str(raised.value)
