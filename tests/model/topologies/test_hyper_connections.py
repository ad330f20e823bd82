"""Hyper-connections against their formulas over three layers, and against Pre-LN before the first update."""

from tiny_models.tiny import PREVIOUS, SOURCE, build
from torch import nn


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
