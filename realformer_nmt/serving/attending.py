"""A second model with the same weights that returns its attention, for requests that need alignments."""

import copy

from torch import nn


def attending(model: nn.Module) -> nn.Module:
    """Return a copy that returns its last layer's attention and shares parameters, buffers and packed weights."""
    twin = _shared(model)
    for module in twin.modules():
        if hasattr(module, "need_attn"):  # fairseq's make_generation_fast_ sets it, and nothing resets it
            vars(module)["need_attn"] = True
    return twin


def _shared(module: nn.Module) -> nn.Module:
    twin = copy.copy(module)
    twin._modules = {name: child and _shared(child) for name, child in module._modules.items()}
    return twin
