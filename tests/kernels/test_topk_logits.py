"""The best words, against torch's sort of all of them."""

import pytest
import torch

from realformer_nmt.kernels.native.library import HIDDEN
from realformer_nmt.kernels.topk_logits import BLOCK, best


@pytest.fixture(params=["", "0"], ids=["our kernel", "torch"], autouse=True)
def _by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HIDDEN, request.param)


@pytest.mark.parametrize("words", [9, BLOCK, 7 * BLOCK + 5, 12 * BLOCK])
@pytest.mark.parametrize("piece", [6, 3 * BLOCK, 5 * BLOCK + 1, 2000])
def test_the_largest_of_all_words_and_their_sum(words: int, piece: int) -> None:
    logits = torch.randn(5, words, generator=torch.Generator().manual_seed(words)) * 4
    top = best(logits.clone().split(piece, 1), 4, 5)
    values, places = logits[:, 4:].sort(1, descending=True)
    assert torch.equal(top.first, logits[:, :4])
    assert torch.equal(top.values, values[:, :5])
    assert torch.equal(top.words, places[:, :5] + 4)
    torch.testing.assert_close(top.values - top.total, logits.log_softmax(1).gather(1, top.words))


def test_a_row_that_is_no_number_says_so_and_spoils_no_other() -> None:
    logits = torch.randn(3, 4 * BLOCK)
    logits[1, 70] = torch.nan
    logits[2, 9] = torch.inf
    top = best([logits.clone()], 4, 2)
    assert (top.values - top.total).isnan().any(1).tolist() == [False, True, True]
    assert torch.equal(top.words[0], logits[0, 4:].topk(2).indices + 4)


def test_words_that_nothing_is_left_of_are_no_best_ones() -> None:
    logits = torch.full((2, 9), -torch.inf)
    logits[:, [3, 6]] = torch.tensor([1.0, 2.0])
    top = best([logits.clone()], 2, 2)
    assert top.words.tolist() == [[6, 3]] * 2
    torch.testing.assert_close(top.total, logits.logsumexp(1, True))


def test_a_piece_without_words_spoils_no_other() -> None:
    pieces = [torch.full((2, 9), -torch.inf), torch.randn(2, 9)]
    top = best([piece.clone() for piece in pieces], 2, 3)
    torch.testing.assert_close(top.total, torch.cat(pieces, 1).logsumexp(1, True))
    assert torch.equal(top.values, pieces[1].topk(3).values)
