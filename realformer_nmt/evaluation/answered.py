"""How well a model of --task question_answering answers each question of a subset, as `answer` and `score-squad` do."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from torch import Tensor

from realformer_nmt.evaluation import answering, span_scores
from realformer_nmt.evaluation.answer import AnswerRequest
from realformer_nmt.evaluation.evaluate import EvaluateRequest
from realformer_nmt.evaluation.rows import Rows
from realformer_nmt.questions import squad

AT_ONCE = 16  # windows, as `answer` has them
IF_LIKELIER = 0.0  # is answered nothing, where there may be no answer


class Row(NamedTuple):
    """Of one question."""

    exact: float
    f1: float
    answers: int  # that are right


class Answered(Rows):
    unit = "questions"

    def add(self, sample: Mapping[str, Any], logits: Tensor) -> None:
        """Windows are none: a question has several."""

    def finish(self, request: EvaluateRequest) -> None:
        file = request.data / f"{request.subset}.json"
        questions = squad.read(file)
        second = any(asked.may_have_none for asked in questions)
        answer = AnswerRequest(
            checkpoint=request.checkpoint,
            questions=file,
            output=request.output,
            data=request.data,
            no_answer=IF_LIKELIER if second else None,
            batch_size=request.batch_size or AT_ONCE,
            cpu=request.cpu,
        )
        answers = answering.answer(questions, answer)
        for place, asked in enumerate(questions):
            told = answers[asked.name]
            exact, f1 = (span_scores.best(of, asked, told, second) for of in (span_scores.exact, span_scores.f1))
            self.rows[place] = Row(exact, f1, len(asked.answers))
            self._targets[place] = json.dumps([asked.name, asked.text, asked.context, asked.answers]).encode()
