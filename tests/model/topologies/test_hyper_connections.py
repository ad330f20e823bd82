"""Hyper-connections against their formulas over three layers, and against Pre-LN before the first update."""

import pytest
import torch
from formulas.topologies import BRANCHES, Pass, W, X, normalise
from tiny_models.tiny import PREVIOUS, SOURCE, build
from torch import Tensor, nn

from realformer_nmt.model.topologies.hyper_connections import Hyper, HyperStatic


def streams_by_hand(done: Pass, dynamic: bool) -> Tensor:
    streams = [X] * 4
    for f, weights in zip(BRANCHES, done.norms, strict=True):
        alphas, betas = [], []
        for index, h in enumerate(streams):
            alpha, beta = weights.static_alpha[index].expand(2, 3, 5), weights.static_beta[index].expand(2, 3)
            if dynamic:
                rms = h / (h.square().mean(-1, keepdim=True) + 1e-5).sqrt() * weights.stream_gain
                alpha = alpha + weights.alpha_scale * torch.tanh(rms @ weights.dynamic_alpha)
                beta = beta + weights.beta_scale * torch.tanh(rms @ weights.dynamic_beta)
            alphas.append(alpha)
            betas.append(beta[..., None])
        x = sum(alpha[..., :1] * h for alpha, h in zip(alphas, streams, strict=True))
        branch = f(normalise(x, weights.input_norm))
        carried = [
            sum(alpha[..., to, None] * h for alpha, h in zip(alphas, streams, strict=True)) for to in range(1, 5)
        ]
        streams = [W * one + beta * branch for one, beta in zip(carried, betas, strict=True)]
    return normalise(sum(streams), done.final)


def test_static_weights() -> None:
    done = Pass(HyperStatic)
    torch.testing.assert_close(done.output, streams_by_hand(done, dynamic=False), rtol=1e-4, atol=1e-5)


def test_weights_that_depend_on_the_streams() -> None:
    done = Pass(Hyper)
    torch.testing.assert_close(done.output, streams_by_hand(done, dynamic=True), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("topology", ["hyper_static", "hyper"])
def test_they_start_as_pre_ln(topology: str) -> None:
    """Four equal streams, whose sum the last norm makes the same as one."""
    hyper, pre = build(residual_topology=topology), build(residual_topology="pre")
    weights = pre.state_dict()
    named = {name: weights.get(name.replace(".input_norm", ""), value) for name, value in hyper.state_dict().items()}
    hyper.load_state_dict(named)
    torch.testing.assert_close(hyper(SOURCE, None, PREVIOUS)[0], pre(SOURCE, None, PREVIOUS)[0], rtol=1e-3, atol=1e-4)


def test_sub_layers_read_one_stream_after_the_other() -> None:
    decoder = build(residual_topology="hyper_static").decoder
    norms = [
        getattr(layer, f"{name}_layer_norm")
        for layer in decoder.layers
        for name in ("self_attn", "encoder_attn", "final")
    ]
    read = [norm.static_alpha[:, 0].nonzero().item() for norm in norms]
    assert read == [0, 1, 2, 3, 0, 1]


def test_every_weight_of_a_model_that_has_moved_gets_a_gradient() -> None:
    """Before the first update W is 0, and what multiplies it gets none."""
    model = build(residual_topology="hyper")
    for name, parameter in model.named_parameters():
        if "dynamic" in name:
            nn.init.normal_(parameter)
    model(SOURCE, None, PREVIOUS)[0].log_softmax(-1)[..., 2].sum().backward()
    assert all(
        parameter.grad.abs().max() > 0 for name, parameter in model.named_parameters() if "k_proj.bias" not in name
    )
