"""Rank and CKA against their definitions; layers that are the same."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_models import analysed
from torch import Tensor

from realformer_nmt.analysis.measures import layer_similarity

ROWS = torch.randn(200, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
OTHERS = torch.tanh(ROWS @ torch.randn(8, 5, generator=torch.Generator().manual_seed(2), dtype=torch.float64))


@pytest.mark.parametrize("rank", [1, 3, 8])
def test_a_matrix_of_known_rank(rank: int) -> None:
    """Equal singular values make the effective rank the rank, whatever is added to every row."""
    left_vectors = torch.linalg.qr(ROWS - ROWS.mean(0)).Q[:, :rank]
    right = torch.linalg.qr(ROWS[:8]).Q[:rank]
    assert layer_similarity.effective_rank(5 * left_vectors @ right + 3) == pytest.approx(rank)


def test_effective_rank_of_unequal_values() -> None:
    """exp of the entropy of 1/2, 1/4, 1/4: 2 sqrt 2."""
    left_vectors = torch.linalg.qr(ROWS - ROWS.mean(0)).Q[:, :3]
    assert layer_similarity.effective_rank(left_vectors * torch.tensor([2.0, 1.0, 1.0])) == pytest.approx(2 * 2**0.5)


def by_kernels(one: Tensor, other: Tensor) -> float:
    """HSIC(K, L) / sqrt(HSIC(K, K) HSIC(L, L)) with K = XX', L = YY', both centred by H = I - 1/n: the other form."""
    n = len(one)
    centring = np.eye(n) - 1 / n
    x, y = (centring @ rows.numpy() @ rows.numpy().T @ centring for rows in (one, other))
    return float(np.trace(x @ y) / np.sqrt(np.trace(x @ x) * np.trace(y @ y)))


def test_cka_by_kernels() -> None:
    assert layer_similarity.cka(ROWS, OTHERS) == pytest.approx(by_kernels(ROWS, OTHERS))
    assert 0.1 < by_kernels(ROWS, OTHERS) < 0.9
    turned = torch.linalg.qr(ROWS[:8]).Q
    assert layer_similarity.cka(ROWS, 7 * ROWS @ turned + 2) == pytest.approx(1)


def test_layers_that_add_nothing_are_the_same(toy_corpus: Path) -> None:
    text = analysed.some(toy_corpus)
    similarity = layer_similarity.measure(analysed.idle(analysed.model(text, residual_topology="pre")), text)
    for side in ("encoder", "decoder"):
        assert similarity[side].cosine == pytest.approx([1, 1])
        assert np.allclose(similarity[side].cka, 1)
        assert len(set(similarity[side].effective_rank)) == 1


def test_cosine_is_the_mean_over_words_without_padding(toy_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Post-LN: what is read out after a layer is the stream itself."""
    text = analysed.some(toy_corpus)
    model, batch = analysed.model(text), analysed.whole(text)
    outputs: list[np.ndarray] = []
    for layer in model.decoder.layers:
        layer.register_forward_hook(lambda _module, _args, out: outputs.append(out[0][0].detach().numpy()))
    model(batch.source, None, batch.previous)
    one, other = (each[(batch.previous != text.pad).numpy()] for each in outputs)
    cosines = (one * other).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
    monkeypatch.setattr("realformer_nmt.analysis.text.TOKENS", 40)
    similarity = layer_similarity.measure(model, text)["decoder"]
    assert similarity.cosine[1] == pytest.approx(cosines.mean(), rel=1e-5)
    assert np.allclose(np.diag(similarity.cka), 1)
