"""SQuAD's files (Rajpurkar et al. 2016 and 2018): articles of paragraphs, each a context with questions about it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from realformer_nmt.common import json_records
from realformer_nmt.common.errors import UserError

HINT = "give a file in SQuAD's format, 1.1 or 2.0"


class Answer(NamedTuple):
    text: str
    start: int  # its first character's place in the context


class Question(NamedTuple):
    name: str
    text: str
    context: str
    answers: tuple[Answer, ...]
    may_have_none: bool  # as in version 2.0


def read(path: Path) -> list[Question]:
    articles = json_records.read(path, HINT, {"data": list})["data"]
    with json_records.expected(path, HINT):
        found = [question for article in articles for question in of_article(article)]
    names = {question.name for question in found}
    if not found or len(names) < len(found):
        told = "two questions of one id" if found else "no question"
        raise UserError(f"{path} holds {told}; {HINT}")
    return found


def of_article(article: dict[str, Any]) -> Iterator[Question]:
    for paragraph in article["paragraphs"]:
        for asked in paragraph["qas"]:
            answers = tuple(Answer(text(answer, "text"), place(answer)) for answer in asked["answers"])
            lacking = "is_impossible" in asked or not answers
            yield Question(text(asked, "id"), text(asked, "question"), text(paragraph, "context"), answers, lacking)


def text(held: dict[str, Any], name: str) -> str:
    if not isinstance(held[name], str):
        raise ValueError(f"{name} is {str(held[name])[:80]!r}, which is no text")
    held[name].encode()  # half a character is an error
    return str(held[name])


def place(answer: dict[str, Any]) -> int:
    if type(answer["answer_start"]) is not int:
        raise ValueError(f"answer_start is {str(answer['answer_start'])[:80]!r}, which is no whole number")
    return int(answer["answer_start"])


def demand_in_place(path: Path, questions: list[Question]) -> None:
    """That each answer stands in its context where the file says."""
    for asked in questions:
        for answer in asked.answers:
            there = asked.context[answer.start : answer.start + len(answer.text)] if answer.start >= 0 else ""
            if there != answer.text or not there.strip():
                told = f"the answer {answer.text[:60]!r} does not begin at character {answer.start} of its context"
                raise UserError(f"{path}, question {asked.name[:60]}: {told}; correct answer_start, in characters")
