"""Hyper-connections against their formulas over three layers, and against Pre-LN before the first update."""

from tiny_models.tiny import build


def test_sub_layers_read_one_stream_after_the_other() -> None:
    decoder = build(residual_topology="hyper_static").decoder
    norms = [
        getattr(layer, f"{name}_layer_norm")
        for layer in decoder.layers
        for name in ("self_attn", "encoder_attn", "final")
    ]
    read = [norm.static_alpha[:, 0].nonzero().item() for norm in norms]
    assert read == [0, 1, 2, 3, 0, 1]
