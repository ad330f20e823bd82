"""Figures of each sequence and each sentence, counted by hand."""

import math

import pytest
import torch

from realformer_nmt.evaluation.rows.row_table import Row
from realformer_nmt.evaluation.rows.text_rows import Sentences, Sequences

PAD = 1


def sequences_of(target: torch.Tensor, logits: torch.Tensor) -> list[Row]:
    sequences = Sequences()
    sequences.add({"target": target, "id": torch.arange(len(target)), "padding": PAD}, logits)
    return list(sequences.rows.values())


def test_without_a_target_nothing_is_lost_whichever_logits_there_are() -> None:
    """fairseq's criterion of masked models computes those of every token then."""
    target = torch.full((2, 3), PAD)
    for logits in (torch.zeros(2, 3, 4), torch.zeros(6, 4), torch.zeros(0, 4)):
        assert sequences_of(target, logits) == [(0, 0, 0)] * 2


def test_equal_logits_lose_the_bits_of_the_vocabulary() -> None:
    target = torch.tensor([[0, PAD, 2], [PAD, 3, PAD]])
    for logits in (torch.zeros(2, 3, 4), torch.zeros(3, 4)):
        assert sequences_of(target, logits) == [pytest.approx((4, 1, 2)), pytest.approx((2, 0, 1))]


def sentences_of(target: torch.Tensor, logits: torch.Tensor) -> Sentences:
    sentences = Sentences()
    sentences.add({"target": target, "id": torch.tensor([7, 3])}, logits)
    return sentences


def test_classes_lose_bits() -> None:
    sentences = sentences_of(torch.tensor([[2], [0]]), torch.tensor([[0.0, 0.0, math.log(2)], [0.0, math.log(6), 0.0]]))
    assert sentences.rows == {7: pytest.approx((1, 2, 2)), 3: pytest.approx((3, 1, 0))}
    assert not sentences.of_numbers
    assert sentences.lines[1].split("\t")[1:] == ["2.0", "2.0"]


def test_of_numbers_the_error_is_squared_and_several_a_sentence_have_no_row() -> None:
    sentences = sentences_of(torch.tensor([[1.5], [0.0]]), torch.tensor([[2.0], [-3.0]]))
    assert sentences.rows == {7: pytest.approx((0.25, 2, 1.5)), 3: pytest.approx((9, -3, 0))}
    assert sentences.of_numbers
    assert sentences_of(torch.rand(2, 3), torch.rand(2, 3)).rows == {}


def test_the_targets_are_distinguished() -> None:
    logits = torch.rand(2, 2)
    digest, same, other = (
        sentences_of(torch.tensor(labels), logits).digest for labels in ([[0], [1]], [[0], [1]], [[1], [1]])
    )
    assert digest == same != other
