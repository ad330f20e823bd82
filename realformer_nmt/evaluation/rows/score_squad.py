"""`realformer-nmt score-squad`: exact match and F1 of answers, as SQuAD's official scripts compute them.

They are evaluate-v1.1.py and evaluate-v2.0.py.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import json_records
from realformer_nmt.common.files.records import StageRecord
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.stages.stage import HELP, Stage, StageRequest
from realformer_nmt.questions import squad
from realformer_nmt.questions.squad import Question

ANSWERS = "`realformer-nmt answer` writes it: a table from the questions' ids to texts"
Words = list[str]
PUNCTUATION = str.maketrans("", "", string.punctuation)
ARTICLES = re.compile(r"\b(a|an|the)\b")


@dataclass(frozen=True, kw_only=True)
class ScoreSquadRequest(StageRequest):
    """Compute exact match and F1, in percent, as SQuAD's official scripts do."""

    subcommand: ClassVar[str] = "score-squad"
    implementation: ClassVar[str] = __name__
    examples: ClassVar[str] = (
        "example: realformer-nmt score-squad answers.json --questions dev-v1.1.json --output score.json"
    )

    answers: Path = argument("of `realformer-nmt answer`", metavar="ANSWERS.JSON")
    questions: Path = option("in SQuAD's format", metavar="FILE.JSON")
    output: Path = option("the record", metavar="SCORE.JSON")
    fresh: bool = option(HELP, False)

    def stage(self) -> Stage:
        return Stage("score-squad", self.output, {}, {"answers": self.answers, "questions": self.questions})


REQUEST = ScoreSquadRequest


class SquadScoreRecord(StageRecord, frozen=True, kw_only=True):
    """Record of the scores of answers."""

    questions: int
    scores: dict[str, float]


def run(request: ScoreSquadRequest) -> int:
    stage = request.stage()
    if stage.is_up_to_date(request.fresh):
        return 0
    origin = stage.new_origin()
    questions = squad.read(request.questions)
    content = json_records.read(request.answers, ANSWERS)
    answers = {name: text for name, text in content.items() if isinstance(text, str)}
    lacking = [question.name for question in questions if question.name not in answers]
    if lacking:
        raise UserError(
            f"{request.answers} has no text for {len(lacking):,} of {len(questions):,} questions, such as "
            f"{lacking[0]!r}: answer every question, with an empty text where there is no answer"
        )
    scores = mean_scores(questions, answers)
    stage.write(SquadScoreRecord(questions=len(questions), scores=scores, made_from=origin))
    for name, value in scores.items():
        print(f"{name:24} {value:.2f}")
    return 0


def words(answer: str) -> Words:
    """Return an answer's words in lower case, without punctuation and articles."""
    return ARTICLES.sub(" ", answer.lower().translate(PUNCTUATION)).split()


def exact(answer: Words, right: Words) -> float:
    return float(answer == right)


def f1(answer: Words, right: Words) -> float:
    shared = (Counter(answer) & Counter(right)).total()
    return 2 * shared / (len(answer) + len(right)) if shared else 0.0


def best(measure: Callable[[Words, Words], float], question: Question, text: str, version_2: bool) -> float:
    """Return the best score of a text over the question's right answers.

    In version 2.0 a right answer without words counts only where a question has no other.
    """
    answer, right_answers = words(text), [words(right.text) for right in question.answers]
    if version_2:
        right_answers = [right for right in right_answers if right] or [[]]
        if not answer or not right_answers[0]:
            measure = exact  # F1 of no words
    return max(measure(answer, right) for right in right_answers)


def mean_scores(questions: Sequence[Question], answers: Mapping[str, str]) -> dict[str, float]:
    """Return means over questions, in percent; in version 2.0 also over those with and without an answer."""
    version_2 = any(question.may_have_none for question in questions)
    parts = {"": questions}
    if version_2:
        parts["has_answer_"] = [question for question in questions if question.answers]
        parts["no_answer_"] = [question for question in questions if not question.answers]
    means = {}
    for prefix, part in parts.items():
        for name, measure in (("exact_match", exact), ("f1", f1)):
            if part:
                values = [best(measure, question, answers[question.name], version_2) for question in part]
                means[f"{prefix}{name}"] = 100 * sum(values) / len(part)
    return means
