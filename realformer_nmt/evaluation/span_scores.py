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
    """In small letters, without punctuation and articles."""
    return ARTICLES.sub(" ", answer.lower().translate(PUNCTUATION)).split()


def exact(ours: Words, theirs: Words) -> float:
    return float(ours == theirs)


def f1(ours: Words, theirs: Words) -> float:
    shared = (Counter(ours) & Counter(theirs)).total()
    return 2 * shared / (len(ours) + len(theirs)) if shared else 0.0


def best(measure: Callable[[Words, Words], float], asked: Question, answer: str, second: bool) -> float:
    """Over the answers that count. In version 2.0 no words, or none that count, are an answer, too."""
    counting = [words(known.text) for known in asked.answers]
    ours = words(answer)
    if second:
        counting = [known for known in counting if known] or [[]]
    return max(float(ours == known) if second and not (ours and known) else measure(ours, known) for known in counting)


def scores(questions: Sequence[Question], answers: Mapping[str, str]) -> dict[str, float]:
    """Means over questions, in percent; in version 2.0 also over those that have an answer, and over the others."""
    second = any(asked.may_have_none for asked in questions)
    parts = {"": questions}
    if second:
        parts["has_answer_"] = [asked for asked in questions if asked.answers]
        parts["no_answer_"] = [asked for asked in questions if not asked.answers]
    return {
        f"{part}{name}": 100 * sum(best(measure, asked, answers[asked.name], second) for asked in held) / len(held)
        for part, held in parts.items()
        for name, measure in (("exact_match", exact), ("f1", f1))
        if held
    }
