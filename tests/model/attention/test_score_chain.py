"""Carried scores that backward computes again: gradients, and what stays in memory."""

import itertools

import pytest
import torch
from formulas.attention_by_hand import CHAINS, HEADS, LAYERS, MASKS, D, attentions, output, raw_scores, softmax, values
from tiny_models.tiny import build
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from realformer_nmt.model.attention.attention import Attention
from realformer_nmt.model.attention.carry import Carried

LENGTH = 256


def gradients(layers: list[Attention], results: list[Tensor], x: Tensor) -> list[Tensor]:
    weights = [parameter for layer in layers for parameter in layer.parameters()]
    loss = sum((result.sin().sum() for result in results), torch.zeros(()))
    return list(torch.autograd.grad(loss, [x, *weights]))


def attended(layers: list[Attention], mask: Tensor, x: Tensor, composed: tuple[int, ...]) -> list[Tensor]:
    """Return each layer's output; `composed` are layers that compute operation by operation."""
    torch.manual_seed(3)
    results: list[Tensor] = []
    carried: Carried = ()
    for number, layer in enumerate(layers):
        result = layer(x, x, mask, carried, weights=number in composed)
        results, carried = [*results, result.output], result.carried
    return results


@pytest.mark.parametrize("carry", ["sum", "mean"])
@pytest.mark.parametrize("chain", CHAINS)
def test_gradients_are_those_of_the_formula(chain: str, carry: str) -> None:
    mask, layers = MASKS[CHAINS[chain][1]], [layer.double() for layer in attentions(chain, carry)]
    x = torch.randn(2, 5, HEADS * D, dtype=torch.float64, requires_grad=True)
    totals = itertools.accumulate(raw_scores(layer, x, x) for layer in layers)
    divisors = range(1, LAYERS + 1) if carry == "mean" else [1] * LAYERS
    expected = [
        output(layer, values(layer, softmax(total / divisor, mask), x))
        for layer, total, divisor in zip(layers, totals, divisors, strict=True)
    ]
    results = attended(layers, mask, x, ())
    torch.testing.assert_close(results, expected)
    torch.testing.assert_close(gradients(layers, results, x), gradients(layers, expected, x))


@pytest.mark.parametrize("composed", [(), (0,), (1,), (2,)], ids=str)
@pytest.mark.parametrize("chain", ["encoder", "decoder"])
def test_dropout_drops_the_same_again_whichever_layers_store_scores(chain: str, composed: tuple[int, ...]) -> None:
    mask, layers = MASKS[CHAINS[chain][1]], attentions(chain, "mean")
    for layer in layers:
        layer.dropout_module.p = 0.3
    x = torch.randn(2, 5, HEADS * D, requires_grad=True)
    results, expected = (attended(layers, mask, x, stored) for stored in (composed, (0, 1, 2)))
    torch.testing.assert_close(results, expected)
    torch.testing.assert_close(gradients(layers, results, x), gradients(layers, expected, x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("composed", [(), (0,)], ids=str)
def test_gradients_can_be_taken_again_and_of_a_layer_below(composed: tuple[int, ...]) -> None:
    layers, x = attentions("decoder", "mean"), torch.randn(2, 5, HEADS * D, requires_grad=True)
    results, expected = (attended(layers, MASKS["causal"], x, stored) for stored in (composed, (0, 1, 2)))
    for number in (1, 2, 1, 2):
        pairs = [torch.autograd.grad(each[number].sin().sum(), x, retain_graph=True) for each in (results, expected)]
        torch.testing.assert_close(*pairs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sixteen_bits_have_the_gradients_of_stored_scores(dtype: torch.dtype) -> None:
    mask, layers = MASKS["causal"], [layer.to(dtype) for layer in attentions("decoder", "sum")]
    x = torch.randn(2, 5, HEADS * D, dtype=dtype, requires_grad=True)
    results, expected = (gradients(layers, attended(layers, mask, x, stored), x) for stored in ((), (0, 1, 2)))
    for gradient, other in zip(results, expected, strict=True):
        torch.testing.assert_close(gradient, other, rtol=0.05, atol=0.02 * float(other.abs().max()) + 1e-3)


def kept_bytes(layers: int) -> int:
    """Return the memory that an encoder's forward pass keeps for backward."""
    model = build(score_carry="mean", encoder_layers=layers, attention_dropout=0.1).train()
    tokens = torch.randint(4, 12, (2, LENGTH))
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        output = model.encoder(tokens)
    del output
    events = profiler.profiler.kineto_results.events()
    return sum(event.nbytes() for event in events if event.name() == "[memory]")


def test_a_layer_more_keeps_no_scores_more() -> None:
    scores = 4 * 2 * 2 * LENGTH**2  # bytes: fp32, B, H, T x S
    assert kept_bytes(6) - kept_bytes(5) < scores / 2
