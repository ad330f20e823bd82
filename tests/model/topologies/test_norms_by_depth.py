"""Topologies whose norms differ from layer to layer, against their formulas over three layers."""

import math

import torch
from formulas.topologies import BRANCHES, SUBLAYERS, Pass, W, X, normalise

from realformer_nmt.model.topologies.norms_by_depth import LayerNormScaling, MixLN
from realformer_nmt.model.topologies.topology import Place, Stack


def test_mix_ln_is_post_ln_first_and_then_pre_ln() -> None:
    done, x = Pass(MixLN), X
    for number, (f, norm) in enumerate(zip(BRANCHES, done.norms, strict=True)):
        x = normalise(W * x + f(x), norm) if number < SUBLAYERS else W * x + f(normalise(x, norm))
    torch.testing.assert_close(done.output, normalise(x, done.final))


def test_mix_ln_is_post_ln_in_a_quarter_of_the_layers() -> None:
    for layers, quarter in [(2, 1), (6, 1), (12, 3), (18, 4), (60, 15)]:
        topology = MixLN(Stack("decoder", 6, layers), 8)
        places = [Place(depth, 0, last=False) for depth in range(1, layers + 1)]
        assert [topology.is_post(place) for place in places] == [True] * quarter + [False] * (layers - quarter)


def test_layernorm_scaling_divides_a_norms_output_by_the_root_of_the_layers_number() -> None:
    done, x = Pass(LayerNormScaling), X
    for number, (f, norm) in enumerate(zip(BRANCHES, done.norms, strict=True)):
        layer = number // SUBLAYERS + 1
        x = W * x + f(normalise(x, norm) / math.sqrt(layer))
    torch.testing.assert_close(done.output, normalise(x, done.final))
