"""Norms against autograd, asked for each parameter by itself."""

from pathlib import Path

import pytest
import torch
from tiny_models import analysed
from torch.nn.functional import cross_entropy

from realformer_nmt.analysis.measures import gradients


@pytest.mark.parametrize("topology", ["post", "pre", "dual"])
def test_norms_of_layers_and_of_their_parts(topology: str, toy_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = analysed.some(toy_corpus)
    model = analysed.model(text, residual_topology=topology)
    batch = analysed.whole(text)
    mask = batch.target != text.pad
    mean = cross_entropy(model(batch.source, None, batch.previous)[0][mask], batch.target[mask])
    layer = model.decoder.layers[1]
    of_layer = torch.autograd.grad(mean, list(layer.parameters()), retain_graph=True)
    of_fc1 = torch.autograd.grad(mean, [layer.fc1.weight, layer.fc1.bias], retain_graph=True)
    of_encoder = torch.autograd.grad(mean, list(model.encoder.layers[0].parameters()))

    monkeypatch.setattr("realformer_nmt.analysis.text.TOKENS", 40)  # several batches, one gradient
    norms = gradients.norms(model, text)
    assert norms["decoder"].norm[1] == pytest.approx(norm(of_layer), rel=1e-4)
    assert norms["decoder"].parts["fc1"][1] == pytest.approx(norm(of_fc1), rel=1e-4)
    assert norms["encoder"].norm[0] == pytest.approx(norm(of_encoder), rel=1e-4)
    assert len(norms["encoder"].norm) == 2
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_part_that_the_first_layer_does_not_train(toy_corpus: Path) -> None:
    """ADMIN's first shortcut has no weight; the parts of every layer make up its norm."""
    text = analysed.some(toy_corpus)
    encoder = gradients.norms(analysed.model(text, residual_scaling="admin"), text)["encoder"]
    first, second = encoder.parts["self_attn_shortcut"]
    assert first == 0 < second
    for layer, whole in enumerate(encoder.norm):
        assert whole == pytest.approx(sum(norms[layer] ** 2 for norms in encoder.parts.values()) ** 0.5)


def norm(gradients: tuple[torch.Tensor, ...]) -> float:
    return float(torch.cat([gradient.flatten() for gradient in gradients]).norm())
