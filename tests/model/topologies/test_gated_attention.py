"""Gated attention against its formula, with each output projection's input caught."""

import torch
from tiny_models.tiny import PREVIOUS, SOURCE, build, profiled
from torch import Tensor

from realformer_nmt.model.attention.attention import Attention


def test_heads_are_multiplied_by_the_gate_of_the_normed_input() -> None:
    model = profiled(build(residual_topology="gated"))
    seen: dict[Attention, tuple[Tensor, Tensor, Tensor]] = {}
    attentions = [module for module in model.modules() if isinstance(module, Attention)]
    assert len(attentions) == 6  # two in the encoder, four in the decoder
    for attention in attentions:
        attention.head_output.register_forward_hook(
            lambda _module, inputs, output, key=attention: seen.update({key: (*inputs, output)})
        )
    model(SOURCE, None, PREVIOUS)
    for attention in attentions:
        x, heads, output = seen[attention]
        torch.testing.assert_close(output, heads / (1 + torch.exp(-(x @ attention.head_output.gate.weight.T))))
        torch.testing.assert_close(x.mean(-1), torch.zeros(x.shape[:-1]), atol=1e-5, rtol=0)  # as a norm leaves it
