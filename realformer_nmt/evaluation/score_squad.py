"""`realformer-nmt score-squad`: exact match and F1 of answers to questions in SQuAD's format, and the record of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from realformer_nmt.common import json_records
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.finished import HELP, Stage
from realformer_nmt.common.option import argument, option
from realformer_nmt.common.stage_request import StageRequest
from realformer_nmt.evaluation import span_scores
from realformer_nmt.questions import squad

ANSWERS = "`realformer-nmt answer` writes it: a table from the questions' ids to texts"


@dataclass(frozen=True, kw_only=True)
class ScoreSquadRequest(StageRequest):
    """Compute exact match and F1, in percent, as SQuAD's official scripts do."""

    subcommand: ClassVar[str] = "score-squad"
    examples: ClassVar[str] = (
        "example: realformer-nmt score-squad answers.json --questions dev-v1.1.json --output score.json"
    )

    answers: Path = argument("of `realformer-nmt answer`", metavar="ANSWERS.JSON")
    questions: Path = option("in SQuAD's format", metavar="FILE.JSON")
    output: Path = option("the record", metavar="SCORE.JSON")
    anew: bool = option(HELP, False)

    def run(self) -> int:
        return run(self)

    def stage(self) -> Stage:
        return Stage(self.output, {}, {"answers": self.answers, "questions": self.questions})


REQUEST = ScoreSquadRequest


def run(request: ScoreSquadRequest) -> int:
    stage = request.stage()
    if stage.finished(request.anew):
        return 0
    made = stage.begin()
    questions, answers = squad.read(request.questions), json_records.read(request.answers, ANSWERS)
    lacking = [one.name for one in questions if not isinstance(answers.get(one.name), str)]
    if lacking:
        raise UserError(
            f"{request.answers} has no text for {len(lacking):,} of {len(questions):,} questions, such as "
            f"{lacking[0]!r}: answer every question, with an empty text where there is no answer"
        )
    found = span_scores.scores(questions, answers)
    stage.write(made, {"questions": len(questions), "scores": found})
    for name, value in found.items():
        print(f"{name:24} {value:.2f}")
    return 0
