"""HybridNorm against its formula, and its norms of queries, keys and values."""

from tiny_models.tiny import PREVIOUS, SOURCE, build

from realformer_nmt.model.topologies.hybrid_norm import HybridNorm
from realformer_nmt.model.topologies.topology import Place, Stack

PARTS = ("query", "key", "value")


def test_a_decoder_layer_has_its_norm_before_the_feed_forward_block() -> None:
    topology = HybridNorm(Stack("decoder", 2, 2), 8)
    norms = [topology.norm(Place(number // 3 + 1, number, last=number % 3 == 2)) for number in range(6)]
    assert [len([*norm.parameters()]) for norm in norms] == [0, 2, 0, 0, 2, 0]


def test_queries_keys_and_values_are_normed_in_every_attention() -> None:
    model = build(residual_topology="hybrid_norm")
    norms = [name.rpartition(".head_norms.") for name, _ in model.named_parameters() if "head_norms" in name]
    assert len({attention for attention, *_ in norms}) == 6
    assert {norm for *_, norm in norms} == {f"{part}.{kind}" for part in PARTS for kind in ("weight", "bias")}


def test_a_synthesizer_norms_no_queries_that_it_does_not_have() -> None:
    model = build(residual_topology="hybrid_norm", score_source="random")
    names = [name for name, _ in model.named_parameters() if "self_attn.head_norms" in name]
    assert {name.split(".")[-2] for name in names} == {"value"}
    assert model(SOURCE, None, PREVIOUS)[0].isfinite().all()
