"""SQuAD's files (Rajpurkar et al. 2016 and 2018): articles of paragraphs, each a context with questions about it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import json_records

HINT = "give a file in SQuAD's format, 1.1 or 2.0"
Entry = Mapping[str, Any]  # of JSON: what is read of it is checked


class Answer(NamedTuple):
    text: str
    start: int  # index of its first character in the context


class Question(NamedTuple):
    name: str
    text: str
    context: str
    answers: tuple[Answer, ...]
    may_have_none: bool  # in version 2.0


def read(path: Path) -> list[Question]:
    content = json_records.read(path, HINT)
    with json_records.expected(path, HINT):
        questions = [question for article in cast(list[Entry], content["data"]) for question in of_article(article)]
    if not questions:
        raise UserError(f"{path} holds no question; {HINT}")
    if len({question.name for question in questions}) < len(questions):
        raise UserError(f"{path} holds two questions of one id; {HINT}")
    return questions


def of_article(article: Entry) -> Iterator[Question]:
    from msgspec import convert  # late: fairseq-train imports this module, and starts without msgspec

    from realformer_nmt.common.files.records import Text

    for paragraph in article["paragraphs"]:
        for entry in paragraph["qas"]:
            answers = tuple(
                Answer(convert(answer["text"], Text), convert(answer["answer_start"], int))
                for answer in entry["answers"]
            )
            yield Question(
                name=convert(entry["id"], Text),
                text=convert(entry["question"], Text),
                context=convert(paragraph["context"], Text),
                answers=answers,
                may_have_none="is_impossible" in entry or not answers,
            )


def check_in_place(path: Path, questions: list[Question]) -> None:
    """Raise an error if an answer is not in its context at the start that the file gives."""
    for question in questions:
        for answer in question.answers:
            part = question.context[answer.start : answer.start + len(answer.text)] if answer.start >= 0 else ""
            if part != answer.text or not part.strip():
                problem = f"the answer {answer.text[:60]!r} does not begin at character {answer.start} of its context"
                raise UserError(
                    f"{path}, question {question.name[:60]}: {problem}; correct answer_start, in characters"
                )
