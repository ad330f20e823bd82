"""Rows of a model of --task question_answering: how well it answers each question, by `answer` and `score-squad`."""

import json

from realformer_nmt.evaluation.rows import answering, score_squad
from realformer_nmt.evaluation.rows.answer import AnswerRequest
from realformer_nmt.evaluation.rows.evaluate import EvaluateRequest
from realformer_nmt.evaluation.rows.row_table import MeasuredRows
from realformer_nmt.questions import squad

BATCH_SIZE = 16  # windows, the default of `answer`
NO_ANSWER = 0.0  # margin of the score of no answer, in version 2.0


class QuestionRows(MeasuredRows):
    """Rows of questions: exact match, F1, right answers in the file."""

    unit = "questions"

    def finish(self, request: EvaluateRequest) -> None:
        file = request.data / f"{request.subset}.json"
        questions = squad.read(file)
        version_2 = any(question.may_have_none for question in questions)
        answer = AnswerRequest(
            checkpoint=request.checkpoint,
            questions=file,
            output=request.output,
            data=request.data,
            no_answer=NO_ANSWER if version_2 else None,
            batch_size=request.batch_size or BATCH_SIZE,
            cpu=request.cpu,
        )
        answers = answering.answer(questions, answer)
        for index, question in enumerate(questions):
            text = answers[question.name]
            exact = score_squad.best(score_squad.exact, question, text, version_2)
            f1 = score_squad.best(score_squad.f1, question, text, version_2)
            self.rows[index] = (exact, f1, len(question.answers))
            target = [question.name, question.text, question.context, question.answers]
            self._targets[index] = json.dumps(target).encode()
