"""Loss of each sequence, counted by hand."""

import pytest
import torch

from realformer_nmt.evaluation.rows.sequences import SequenceRow, Sequences

PAD = 1


def seen(target: torch.Tensor, logits: torch.Tensor) -> list[SequenceRow]:
    sequences = Sequences()
    sequences.add({"target": target, "id": torch.arange(len(target)), "padding": PAD}, logits)
    return list(sequences.rows.values())


def test_without_a_target_nothing_is_lost_whichever_logits_there_are() -> None:
    """fairseq's criterion of masked models computes those of every token then."""
    target = torch.full((2, 3), PAD)
    for logits in (torch.zeros(2, 3, 4), torch.zeros(6, 4), torch.zeros(0, 4)):
        assert seen(target, logits) == [SequenceRow(0, 0, 0)] * 2


def test_equal_logits_lose_the_bits_of_the_vocabulary() -> None:
    target = torch.tensor([[0, PAD, 2], [PAD, 3, PAD]])
    for logits in (torch.zeros(2, 3, 4), torch.zeros(3, 4)):
        assert seen(target, logits) == [pytest.approx(SequenceRow(4, 1, 2)), pytest.approx(SequenceRow(2, 0, 1))]
