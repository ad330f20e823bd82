"""The best span beside every span that there is, and when nothing is answered."""

import itertools
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from realformer_nmt.evaluation.rows.answer import AnswerRequest
from realformer_nmt.evaluation.rows.answering import AnswerRecord, WindowResult, answer_text, best
from realformer_nmt.questions.squad import Question
from realformer_nmt.questions.windows import Window, split_at_spaces

QUESTION = Question("q", "?", " one two,  three four", (), may_have_none=True)


@pytest.mark.parametrize("longest", [1, 3, 30, 10**30])
def test_the_best_span_is_that_of_all(longest: int) -> None:
    torch.manual_seed(longest % 97)
    window = Window(0, [0] * 12, 4, 20, (0, 0))  # a context of 7 tokens, from piece 20 on, before the end and padding
    for _ in range(20):
        logits = torch.randn(15, 2)
        every = itertools.combinations_with_replacement(range(4, 11), 2)
        spans = [(start, end) for start, end in every if end - start < longest]
        start, end = max(spans, key=lambda span: float(logits[span[0], 0] + logits[span[1], 1]))
        result = best(logits, window, longest)
        assert (result.first, result.last) == (start + 16, end + 16)
        assert result.score == pytest.approx(float(logits[start, 0] + logits[end, 1]))
        assert result.none == pytest.approx(float(logits[0, 0] + logits[0, 1]))


def test_the_answer_is_the_best_of_all_windows_as_it_stands_in_the_context() -> None:
    task = SimpleNamespace(cut=split_at_spaces)
    windows = [WindowResult(1.0, 0, 0, 9.0), WindowResult(2.0, 1, 2, 3.0), WindowResult(0.0, 3, 3, 5.0)]
    assert answer_text(task, QUESTION, windows, None) == "two,  three"
    assert answer_text(task, QUESTION, windows, 1.0) == "two,  three"  # 3 is no more than 1 above 2
    assert answer_text(task, QUESTION, windows, 0.9) == ""
    assert answer_text(task, QUESTION, [best(torch.zeros(5, 2), Window(0, [0] * 5, 4, 0, (0, 0)), 9)], None) == ""


def test_a_folder_whose_words_are_not_cut_needs_no_subwords(tmp_path: Path) -> None:
    for name in ("dict.txt", "model.pt", "dev.json"):
        (tmp_path / name).touch()
    checkpoint, questions = tmp_path / "model.pt", tmp_path / "dev.json"
    stage = AnswerRequest(checkpoint=checkpoint, questions=questions, output=tmp_path, data=tmp_path).stage()
    stage.write(AnswerRecord(questions=0, made_from=stage.new_origin()))
    assert stage.is_up_to_date(fresh=False)
