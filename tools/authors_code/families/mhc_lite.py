"""Connections of mHC-lite, of layers with linear branches; their sum of normed streams at the end is left out."""

from pathlib import Path
from typing import Any

import torch
from same_weights.draws import WIDTH, Outputs, fill, numbers, passed

from authors_code.layers.streams import SUBLAYERS, TheirStack
from authors_code.record import Source, load

SOURCE = Source("FFTYYY/mhc-lite", "ea197752957e520063ae0e26a88c8061834c67fa", "hyper_conn/mhc_lite.py")
PARTS = (4, 4, 24)  # rows of our map: to read, to write and to carry


def run_code(checkout: Path) -> Outputs:
    stack = TheirStack(load(checkout / SOURCE.file), "MHCLite")
    start: Any = stack.layers[2]["self_attn_layer_norm"]
    initial = torch.cat([start.static_alpha[:4], start.static_beta, start.static_alpha[4:]]).detach()
    fill(stack).layer_norm.eps *= 16  # of a sum of four streams, where ours has their mean
    for layer, sublayers in enumerate(stack.layers):
        for norm in SUBLAYERS.values():
            fill_connections(sublayers[norm], f"layers.{layer}.{norm}")
    return {"initial_bias": initial} | passed(stack)


def fill_connections(connections: Any, name: str) -> None:
    for kind, values in (
        ("dynamic_{}_fn", numbers(f"{name}.map", sum(PARTS), 4 * WIDTH).t()),
        ("static_{}", numbers(f"{name}.bias", sum(PARTS))),
    ):
        reading, writing, carrying = values.split(PARTS, -1)
        getattr(connections, kind.format("alpha")).data = torch.cat([reading, carrying], -1)
        getattr(connections, kind.format("beta")).data = writing
    scales = (connections.pre_branch_scale, connections.h_post_scale, connections.residual_scale)
    for scale, value in zip(scales, numbers(f"{name}.scales", len(scales)), strict=True):
        scale.data.fill_(value)
    connections.norm.gamma.data = numbers(f"{name}.stream_gain", 4 * WIDTH) - 1
