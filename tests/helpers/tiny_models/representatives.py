"""Families that stand for all others where a test is about what a model keeps and calls, not about its formula."""

import re
from typing import Any

import pytest
import torch
from tiny_models.tiny import PREVIOUS, SOURCE, build
from torch import nn

from realformer_nmt.model.presets import FAMILIES

REPRESENTATIVES = {  # and what each has that those before it have not
    "post_ln": "nothing beside the weights of stock fairseq",
    "realformer": "scores that are carried; shortcuts with a weight and ADMIN's profile, a buffer",
    "resi_dual": "a stream of two tensors",
    "pro_res": "a buffer that the number of updates changes",
    "rezero": "no norm; a gate that starts at 0",
    "norm_former": "norms of the hidden layer, gains of heads, a table of gains per stack",
    "hybrid_norm": "norms of queries, keys and values",
    "rk2": "layers that are called twice",
    "dlcl_pre": "a stream with one more tensor per layer",
    "hyper": "a stream of four vectors per position, and weights that depend on it",
    "lazy": "layers without queries and keys",
    "moda": "keys and values of every layer that are carried",
    "differential": "heads that are mixed after the softmax",
    "gated_attention": "a projection in encoder-decoder attention, too, that a decoding step reads",
    "synthesizer_fixed_random": "a table of scores by position, which is a buffer",
    "synthesizer_random_vanilla": "a mixture of a table and products",
}
OTHERS = [family for family in FAMILIES if family not in REPRESENTATIVES]
every_family = pytest.mark.parametrize(
    "family", [*REPRESENTATIVES, *(pytest.param(family, marks=pytest.mark.product) for family in OTHERS)]
)
COMPONENTS = re.compile(r"topology|shortcut|score_source|head_mixing|head_norms|head_output|hidden_norm|norm|[qk]_proj")


def features(options: dict[str, Any]) -> set[str]:
    """Return what a family's models keep and call beyond stock fairseq's, and what they go without."""
    model, stock = build(**options).eval(), build(residual_topology="pre")
    weights, stock_weights = model.state_dict().keys(), stock.state_dict().keys()
    parameters = {name for name, _ in model.named_parameters()}
    return {
        *(
            f"{'parameters' if name in parameters else 'buffers'} of {component(name)}"
            for name in weights - stock_weights
        ),
        *(
            f"no {component(name)}"
            for name in stock_weights - weights
            if ".layers." in name and name.endswith("weight")
        ),
        *calls(model),
    }


def component(name: str) -> str:
    return (COMPONENTS.findall(name) or [name])[0]


def calls(model: nn.Module) -> set[str]:
    """Return what the encoder's second layer is called with: how often, and with how many tensors of how many axes."""
    carried: list[int] = []
    streams: list[list[int]] = []
    topology, layer = model.encoder.topology, model.encoder.layers[1]
    layer.register_forward_hook(lambda _module, _inputs, output: carried.append(len(output[1])))
    topology.register_forward_hook(lambda _module, _inputs, output: streams.append([each.dim() for each in output[0]]))
    with torch.no_grad():
        model(SOURCE, None, PREVIOUS)
    first, last = streams
    return {
        f"called {len(carried)} times",
        f"{carried[-1]} tensors carried",
        f"{last[0]} axes",
        "one more tensor per layer" if len(last) > len(first) else f"{len(last)} tensors",
    }
