"""`realformer-nmt score-squad`: exact match and F1 of answers to questions in SQuAD's format, and the record of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import json_records
from realformer_nmt.common.files.records import StageRecord
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.stages.stage import HELP, Stage
from realformer_nmt.common.stages.stage_request import StageRequest
from realformer_nmt.evaluation.rows import span_scores
from realformer_nmt.questions import squad

ANSWERS = "`realformer-nmt answer` writes it: a table from the questions' ids to texts"


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
    scores = span_scores.scores(questions, answers)
    stage.write(SquadScoreRecord(questions=len(questions), scores=scores, made_from=origin))
    for name, value in scores.items():
        print(f"{name:24} {value:.2f}")
    return 0
