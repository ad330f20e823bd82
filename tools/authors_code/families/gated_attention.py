"""Gated attention: the authors' layers with a gate per channel, whose positions turn nothing."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from same_weights.draws import HEADS, LAYERS, WIDTH, Outputs, numbers, passed
from torch import Tensor, nn

from authors_code.layers import llama_layers
from authors_code.record import Source

FILE = "modeling_qwen3.py"
SOURCE = Source("qiuzh20/gated_attention", "49645df63aafe9e680bc44a9c0ca280d4aefa8e9", FILE)


def run_code(checkout: Path) -> Outputs:
    code = llama_layers.code(checkout / FILE)
    gate = {"headwise_attn_output_gate": False, "elementwise_attn_output_gate": True}
    config = SimpleNamespace(**vars(llama_layers.CONFIG), **gate, use_qk_norm=False, qkv_bias=True)
    stack = llama_layers.TheirStack([code.Qwen3DecoderLayer(config, layer) for layer in range(LAYERS)], run)
    for number, layer in enumerate(stack.layers):
        fill_queries(layer.self_attn.q_proj, f"layers.{number}.self_attn")
    return passed(stack, "encoder")


def fill_queries(projection: Any, name: str) -> None:
    """Fill a projection that has each head's queries and then its gates; ours has gates without bias."""
    queries = numbers(f"{name}.q_proj.weight", WIDTH, WIDTH), numbers(f"{name}.q_proj.bias", WIDTH)
    gates = numbers(f"{name}.head_output.gate.weight", WIDTH, WIDTH), torch.zeros(WIDTH)
    for parameter, *parts in zip((projection.weight, projection.bias), queries, gates, strict=True):
        rows = [part.unflatten(0, (HEADS, -1)) for part in parts]
        parameter.data.copy_(torch.cat(rows, 1).flatten(0, 1))


def run(layers: nn.ModuleList, x: Tensor) -> Tensor:
    for layer in layers:
        (x,) = layer(x, position_embeddings=llama_layers.UNTURNED)
    return x
