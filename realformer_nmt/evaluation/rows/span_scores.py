"""Exact match and F1 of answers, as SQuAD's official scripts compute them (evaluate-v1.1.py and evaluate-v2.0.py)."""

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from realformer_nmt.questions.squad import Question

Words = list[str]
PUNCTUATION = str.maketrans("", "", string.punctuation)
ARTICLES = re.compile(r"\b(a|an|the)\b")


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


def scores(questions: Sequence[Question], answers: Mapping[str, str]) -> dict[str, float]:
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
