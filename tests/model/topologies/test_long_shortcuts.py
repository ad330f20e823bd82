"""Topologies with a second path, against their formulas over three layers."""

import math

import torch
from formulas.topologies import BRANCHES, LAYERS, SUBLAYERS, Pass, W, X, normalise
from tiny_models.tiny import PREVIOUS, SOURCE, build
from torch import Tensor

from realformer_nmt.model.topologies.long_shortcuts import BottomToTop, RungeKutta, Siamese


def test_b2t_adds_the_layers_input_before_its_last_norm() -> None:
    done, x = Pass(BottomToTop), X
    for layer in range(LAYERS):
        first, second = SUBLAYERS * layer, SUBLAYERS * layer + 1
        middle = normalise(W * x + BRANCHES[first](x), done.norms[first])
        x = normalise(W * middle + BRANCHES[second](middle) + x, done.norms[second])
    torch.testing.assert_close(done.output, x)


def test_siamese_norm_as_its_code_computes_it() -> None:
    """The code norms x as a sub-layer begins, by that sub-layer's norm."""
    done = Pass(Siamese)
    x_norms = [done.topology.first_norm, *(norm.x for norm in done.norms)]
    x, y = X, X
    for number, (f, norm) in enumerate(zip(BRANCHES, done.norms, strict=True)):
        layer = number // SUBLAYERS + 1
        x = normalise(x, x_norms[number])
        o = f(normalise(x + normalise(y, norm.y), norm.input))
        x, y = W * x + o / math.sqrt(2 * layer), y + o
    expected = normalise(normalise(x, x_norms[-1]) + normalise(y, done.final.y), done.final.sum)
    torch.testing.assert_close(done.output, expected)


def test_rk2_calls_each_layer_twice() -> None:
    done, x = Pass(RungeKutta), X

    def whole_layer(x: Tensor, layer: int) -> Tensor:
        for number in range(SUBLAYERS * layer, SUBLAYERS * (layer + 1)):
            x = W * x + BRANCHES[number](normalise(x, done.norms[number]))
        return x

    gate = done.topology.gate
    for layer in range(LAYERS):
        first = whole_layer(x, layer)
        second = whole_layer(x + first, layer)
        g = torch.sigmoid(torch.cat([first, second], -1) @ gate.weight.T + gate.bias)
        x = x + g * first + (1 - g) * second
    torch.testing.assert_close(done.output, normalise(x, done.final))


def test_rk2_is_of_the_encoder_alone() -> None:
    rk2, pre = build(residual_topology="rk2"), build(residual_topology="pre")
    assert [name for name, _ in rk2.decoder.named_parameters()] == [name for name, _ in pre.decoder.named_parameters()]
    rk2.decoder.load_state_dict(pre.decoder.state_dict())
    encoder_out = pre.encoder(SOURCE)
    assert torch.equal(rk2.decoder(PREVIOUS, encoder_out)[0], pre.decoder(PREVIOUS, encoder_out)[0])
