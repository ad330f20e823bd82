"""`realformer-nmt score-squad`: exact match and F1 of answers to questions in SQuAD's format, and the record of it."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from realformer_nmt.common import json_records, sealed
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.finished import HELP, OUTPUTS, Stage
from realformer_nmt.common.text_lines import sha256
from realformer_nmt.evaluation import span_scores
from realformer_nmt.questions import squad
from realformer_nmt.questions.squad import Question

EXAMPLE = "example: realformer-nmt score-squad answers.json --questions dev-v1.1.json --output score.json"
RECORD = "record.json"  # beside the answers, of `answer`
ANSWERS = "`realformer-nmt answer` writes it: a table from the questions' ids to texts"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Exact match and F1, in percent, as SQuAD's official scripts compute them."
    parser.epilog = EXAMPLE
    parser.add_argument("answers", type=Path, metavar="ANSWERS.JSON", help="of `realformer-nmt answer`")
    parser.add_argument("--questions", type=Path, required=True, metavar="FILE.JSON", help="in SQuAD's format")
    parser.add_argument("--output", type=Path, required=True, metavar="SCORE.JSON", help="the record")
    parser.add_argument("--anew", action="store_true", help=HELP)


def run(args: argparse.Namespace) -> int:
    stage = asked(args)
    if stage.finished(args.anew):
        return 0
    made = stage.begin()
    questions, answers = squad.read(args.questions), json_records.read(args.answers, ANSWERS)
    lacking = [one.name for one in questions if not isinstance(answers.get(one.name), str)]
    if lacking:
        told = (
            f"{args.answers} has no text for {len(lacking):,} of {len(questions):,} questions, such as {lacking[0]!r}"
        )
        raise UserError(f"{told}: answer every question, with an empty text where there is no answer")
    check_answered(args, questions, answers)
    found = span_scores.scores(questions, answers)
    stage.write(made, {"questions": len(questions), "scores": found})
    for name, value in found.items():
        print(f"{name:24} {value:.2f}")
    return 0


def check_answered(args: argparse.Namespace, questions: Sequence[Question], answers: Mapping[str, str]) -> None:
    """Refuse what `answer` has made of other questions: its texts are cut from their contexts."""
    record = args.answers.with_name(RECORD)
    try:
        made = sealed.read(record, ANSWERS, {OUTPUTS: dict})[OUTPUTS].get(args.answers.name)
    except UserError:  # answers of another program, which may write what it likes
        return
    with json_records.expected(record, ANSWERS):
        if made and sha256(args.answers) != made["sha256"]:
            raise UserError(f"{args.answers} is another file than {record} says was made: put it back, or answer again")
    foreign = [one.name for one in questions if made and answers[one.name] not in one.context]
    if foreign:
        raise UserError(
            f"{args.answers} answers other questions than {args.questions} asks: {len(foreign):,} of its texts are not "
            f"in their contexts there, such as that of {foreign[0]!r}; give the --questions that were answered"
        )


def asked(args: argparse.Namespace) -> Stage:
    return Stage("score-squad", args.output, {}, {"answers": args.answers, "questions": args.questions})
