"""HybridNorm against its formula, and its norms of queries, keys and values."""

import torch
from tiny_models.tiny import PREVIOUS, SOURCE, build
from torch import Tensor
from torch.nn.functional import rms_norm

from realformer_nmt.model.attention.attention import Attention
from realformer_nmt.model.topologies.hybrid_norm import HybridNorm
from realformer_nmt.model.topologies.topology import Place, Stack


def test_a_decoder_layer_has_its_norm_before_the_feed_forward_block() -> None:
    topology = HybridNorm(Stack("decoder", 2, 2), 8)
    norms = [topology.norm(Place(number // 3 + 1, number, last=number % 3 == 2)) for number in range(6)]
    assert [len([*norm.parameters()]) for norm in norms] == [0, 2, 0, 0, 2, 0]


def by_hand(attention: Attention, x: Tensor, memory: Tensor) -> Tensor:
    parts = zip(("query", "key", "value"), (x, memory, memory), strict=True)
    query, key, value = (
        rms_norm(
            attention.get_submodule(f"{name[0]}_proj")(read).unflatten(-1, (2, 4)).transpose(1, 2),
            (4,),
            attention.head_norms.get_submodule(name).weight,
            1e-5,
        )
        for name, read in parts
    )
    heads = (query @ key.transpose(-1, -2) / 2).softmax(-1) @ value
    return attention.out_proj(heads.transpose(1, 2).flatten(2))


def test_queries_keys_and_values_are_normed_in_every_attention() -> None:
    model = build(residual_topology="hybrid_norm", norm="rms").eval()
    attentions = [module for module in model.modules() if isinstance(module, Attention)]
    assert len(attentions) == 6
    x, memory = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    for attention in attentions:
        for parameter in attention.head_norms.parameters():
            torch.nn.init.normal_(parameter)
        read = x if "Self" in type(attention).__name__ else memory
        for weights in (False, True):  # by torch's kernel, and by hand in the layer
            torch.testing.assert_close(attention(x, read, None, weights=weights).output, by_hand(attention, x, read))


def test_a_synthesizer_norms_no_queries_that_it_does_not_have() -> None:
    model = build(residual_topology="hybrid_norm", score_source="random")
    names = [name for name, _ in model.named_parameters() if "self_attn.head_norms" in name]
    assert {name.split(".")[-2] for name in names} == {"value"}
    assert model(SOURCE, None, PREVIOUS)[0].isfinite().all()
