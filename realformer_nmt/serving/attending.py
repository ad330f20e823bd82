"""A second model of the same weights, for requests of alignments, which are read from its attention."""

import copy

from torch import nn


def attending(model: nn.Module) -> nn.Module:
    """Return a copy that gives its last layer's attention; parameters, buffers and laid-out weights are shared."""
    twin = _shared(model)
    for module in twin.modules():
        if hasattr(module, "need_attn"):  # fairseq's make_generation_fast_ sets it, and nothing resets it
            vars(module)["need_attn"] = True
    return twin


def _shared(module: nn.Module) -> nn.Module:
    twin = copy.copy(module)
    twin._modules = {name: child and _shared(child) for name, child in module._modules.items()}
    return twin
