"""Exact match and F1 by hand; the figures are those that evaluate-v1.1.py and evaluate-v2.0.py give, too."""

import json
from pathlib import Path

import pytest
from programs import argv

from realformer_nmt.common.errors import UserError
from realformer_nmt.evaluation.rows.score_squad import ScoreSquadRequest, mean_scores
from realformer_nmt.questions.squad import Answer, Question


def question(*answers: str, may_have_none: bool = False, name: str = "q") -> Question:
    return Question(name, "?", "", tuple(Answer(answer, 0) for answer in answers), may_have_none)


@pytest.mark.parametrize(
    ("answers", "answer", "exact", "f1"),
    [
        (("The Cat!",), "a cat", 1, 1),  # no case, punctuation or articles
        (("theatre",), "the atre", 0, 0),  # articles are words
        (("the-cat",), "cat", 0, 0),  # and not what is left of punctuation: thecat
        (("the cat sat",), "cat", 0, 2 / 3),  # of 1 and 2 words one is shared
        (("cat cat dog",), "cat dog dog", 0, 2 / 3),  # each as often as both have it
        (("dog", "black cat"), "black cat", 1, 1),  # the best answer counts
        (("black dog", "cat"), "a black cat", 0, 2 / 3),
        (("Größe 3.5",), "größe 35", 1, 1),
        (("cat",), "", 0, 0),
    ],
)
@pytest.mark.parametrize("second", [False, True])
def test_an_answer_by_hand(answers: tuple[str, ...], answer: str, exact: float, f1: float, second: bool) -> None:
    figures = mean_scores([question(*answers, may_have_none=second)], {"q": answer})
    assert (figures["exact_match"], figures["f1"]) == pytest.approx((100 * exact, 100 * f1))


def test_of_nothing_the_versions_think_differently() -> None:
    """1.1 finds no shared word in two empty texts; in 2.0 they agree, and an answer without words counts only alone."""
    assert mean_scores([question("the")], {"q": "!"}) == {"exact_match": 100, "f1": 0}
    both = {"exact_match": 100, "f1": 100, "has_answer_exact_match": 100, "has_answer_f1": 100}
    assert mean_scores([question("the", may_have_none=True)], {"q": "!"}) == both
    assert mean_scores([question("the", "cat", may_have_none=True)], {"q": ""})["exact_match"] == 0


def test_questions_without_answer_are_distinguished() -> None:
    questions = [question("black cat", name="a", may_have_none=True), question(name="b"), question(name="c")]
    figures = mean_scores(questions, {"a": "cat", "b": "", "c": "cat"})
    assert figures == pytest.approx(
        {
            **{"exact_match": 100 / 3, "f1": 100 * (2 / 3 + 1) / 3},
            **{"has_answer_exact_match": 0, "has_answer_f1": 200 / 3, "no_answer_exact_match": 50, "no_answer_f1": 50},
        }
    )


def test_the_command_asks_for_every_answer_and_records_what_it_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = {"answers": [{"text": "a cat", "answer_start": 0}], "question": "?"}
    paragraph = {"context": "a cat", "qas": [{"id": "1", **entry}, {"id": "2", **entry}]}
    questions, answers, output = (tmp_path / name for name in ("dev.json", "answers.json", "score.json"))
    questions.write_text(json.dumps({"version": "1.1", "data": [{"title": "", "paragraphs": [paragraph]}]}))
    request = argv.read(ScoreSquadRequest, answers, "--questions", questions, "--output", output)
    answers.write_text(json.dumps({"1": "cat", "2": None}))
    with pytest.raises(UserError, match="has no text for 1 of 2 questions, such as '2': answer every question"):
        request.run()
    answers.write_text(json.dumps({"1": "cat", "2": "dog"}))
    request.run()
    assert capsys.readouterr().out.split() == ["exact_match", "50.00", "f1", "50.00"]
    record = json.loads(output.read_text())
    assert record["scores"] == {"exact_match": 50, "f1": 50}
    assert set(record["made_from"]["inputs"]) == {"answers", "questions"}
