"""How well a model of --task question_answering answers each question of a subset, as `answer` and `score-squad` do."""

import json
from argparse import Namespace
from collections.abc import Mapping
from typing import Any, NamedTuple

from torch import Tensor

from realformer_nmt.evaluation import answering, span_scores
from realformer_nmt.evaluation.rows import Rows
from realformer_nmt.questions import squad

LONGEST, AT_ONCE = 30, 16  # of `answer`
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

    def finish(self, args: Namespace) -> None:
        questions = squad.read(args.data / f"{args.subset}.json")
        second = any(asked.may_have_none for asked in questions)
        how = {"longest": LONGEST, "batch_size": args.batch_size or AT_ONCE}
        how |= {"no_answer": IF_LIKELIER if second else None}
        answers = answering.answer(questions, Namespace(**{**vars(args), **how}))
        for place, asked in enumerate(questions):
            told = answers[asked.name]
            exact, f1 = (span_scores.best(of, asked, told, second) for of in (span_scores.exact, span_scores.f1))
            self.rows[place] = Row(exact, f1, len(asked.answers))
            self._targets[place] = json.dumps([asked.name, asked.text, asked.context, asked.answers]).encode()
