"""The label-smoothed loss in C, against torch's own in fp64."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from realformer_nmt.kernels.native.library import library, takes
from realformer_nmt.kernels.native.smoothing import replace_by_gradient

pytestmark = pytest.mark.skipif(library() is None, reason="no kernels were built, or the processor has no avx512_vnni")
PADDING = 1


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("rows", "words"), [(1, 2), (7, 15), (5, 16), (300, 1001), (40, 32768)])
def test_loss_and_gradient_are_torchs(
    rows: int, words: int, dtype: torch.dtype, smoothing: float, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """e' of every other class: (1 - e - e') nll - e' sum of log q is torch's loss with label_smoothing = V e'."""
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    chance = torch.Generator().manual_seed(rows)
    logits = (torch.randn(rows, words, generator=chance) * 4).to(dtype)
    if not takes(logits):
        pytest.skip("the processor has no avx512_bf16")
    target = torch.randint(words, (rows,), generator=chance)
    target[0] = PADDING
    uniform = smoothing / (words - 1)
    exact = logits.double().requires_grad_()
    nll = cross_entropy(exact, target, reduction="none", ignore_index=PADDING)
    loss = cross_entropy(exact, target, reduction="none", ignore_index=PADDING, label_smoothing=words * uniform)
    loss.sum().backward()
    losses = replace_by_gradient(logits, target, 1 - smoothing - uniform, uniform, PADDING)
    torch.testing.assert_close(losses.double(), torch.stack([loss, nll]).detach(), rtol=1e-5, atol=1e-5)
    precise = dtype is torch.float32
    torch.testing.assert_close(logits.double(), exact.grad, rtol=1e-5 if precise else 2**-8, atol=1e-6)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_what_is_no_number_is_seen(bad: float) -> None:
    logits = torch.zeros(3, 40)
    logits[1, 20] = bad
    losses = replace_by_gradient(logits, torch.tensor([2, 3, 4]), 0.9, 0.0, PADDING)
    assert losses.isfinite().all(0).tolist() == [True, False, True]


def test_a_word_that_cannot_be_has_no_probability() -> None:
    logits = torch.tensor([[0.0, -torch.inf, 0.0]])
    losses = replace_by_gradient(logits, torch.tensor([0]), 1.0, 0.0, PADDING)
    torch.testing.assert_close(losses[1], torch.tensor([2.0]).log())
    torch.testing.assert_close(logits, torch.tensor([[-0.5, 0.0, 0.5]]))


@pytest.mark.parametrize("word", [-1, 40])
def test_a_word_beyond_the_rows_is_refused(word: int) -> None:
    with pytest.raises(ValueError, match=r"^smoothed_loss: target must hold numbers from 0 to 39 alone$"):
        replace_by_gradient(torch.zeros(2, 40), torch.tensor([0, word]), 0.9, 0.0, PADDING)
