"""Figures of each sentence, counted by hand."""

import math

import pytest
import torch

from realformer_nmt.evaluation.rows.sentence_rows import SentenceRow, Sentences


def seen(target: torch.Tensor, logits: torch.Tensor) -> Sentences:
    sentences = Sentences()
    sentences.add({"target": target, "id": torch.tensor([7, 3])}, logits)
    return sentences


def test_classes_lose_bits() -> None:
    sentences = seen(torch.tensor([[2], [0]]), torch.tensor([[0.0, 0.0, math.log(2)], [0.0, math.log(6), 0.0]]))
    assert sentences.rows == {7: pytest.approx(SentenceRow(1, 2, 2)), 3: pytest.approx(SentenceRow(3, 1, 0))}
    assert not sentences.of_numbers
    assert sentences.lines[1].split("\t")[1:] == ["2.0", "2.0"]


def test_of_numbers_the_error_is_squared_and_several_a_sentence_have_no_row() -> None:
    sentences = seen(torch.tensor([[1.5], [0.0]]), torch.tensor([[2.0], [-3.0]]))
    assert sentences.rows == {7: pytest.approx(SentenceRow(0.25, 2, 1.5)), 3: pytest.approx(SentenceRow(9, -3, 0))}
    assert sentences.of_numbers
    assert seen(torch.rand(2, 3), torch.rand(2, 3)).rows == {}


def test_the_targets_are_distinguished() -> None:
    logits = torch.rand(2, 2)
    digest, same, other = (seen(torch.tensor(labels), logits).digest for labels in ([[0], [1]], [[0], [1]], [[1], [1]]))
    assert digest == same != other
