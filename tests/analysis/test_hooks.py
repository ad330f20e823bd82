"""The hooks show what the formulas say, written out for the first two layers."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from tiny_models.tiny import PREVIOUS, SOURCE, build
from torch import Tensor

from realformer_nmt.analysis import hooks
from realformer_nmt.model.models.model import TranslationModel

SENTENCE = SOURCE[1:2]  # without padding


@contextmanager
def seen(model: TranslationModel) -> Iterator[dict[tuple[str, int], Tensor]]:
    probabilities: dict[tuple[str, int], Tensor] = {}
    with torch.no_grad(), hooks.attention(model, lambda chain, layer, p: probabilities.update({(chain, layer): p})):
        yield probabilities


def scores(attention: torch.nn.Module, x: Tensor) -> Tensor:
    query, key = (
        (x @ part.weight.t() + part.bias).view(len(x), x.size(1), 2, 4).transpose(1, 2)
        for part in (attention.q_proj, attention.k_proj)
    )
    return query @ key.transpose(-1, -2) / 4**0.5


def test_probabilities_of_residual_attention() -> None:
    model = build(score_carry="sum").eval()
    inputs: list[Tensor] = []
    for layer in model.encoder.layers:
        layer.self_attn.register_forward_pre_hook(lambda _, args: inputs.append(args[0]))
    with seen(model) as probabilities:
        model(SENTENCE, None, PREVIOUS[1:2])
    first, second = (scores(layer.self_attn, x) for layer, x in zip(model.encoder.layers, inputs, strict=True))
    assert torch.allclose(probabilities["encoder", 1], first.softmax(-1), atol=1e-6)
    assert torch.allclose(probabilities["encoder", 2], (first + second).softmax(-1), atol=1e-6)


def test_every_attention_is_seen_once_and_the_model_computes_the_same() -> None:
    model = build().eval()
    with torch.no_grad():
        before = model(SOURCE, None, PREVIOUS)[0]
    with seen(model) as probabilities:
        during = model(SOURCE, None, PREVIOUS)[0]
    assert torch.allclose(during, before, atol=1e-6)
    assert probabilities.keys() == {(chain, layer) for chain in hooks.CHAINS for layer in (1, 2)}
    assert probabilities["encoder-decoder", 1].shape == (3, 2, PREVIOUS.size(1), SOURCE.size(1))
    probabilities.clear()
    model(SOURCE, None, PREVIOUS)
    assert not probabilities  # the hooks have gone
