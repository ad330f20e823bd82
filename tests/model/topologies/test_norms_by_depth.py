"""Topologies whose norms differ from layer to layer, against their formulas over three layers."""

from realformer_nmt.model.topologies.norms_by_depth import MixLN
from realformer_nmt.model.topologies.topology import Place, Stack


def test_mix_ln_is_post_ln_in_a_quarter_of_the_layers() -> None:
    for layers, quarter in [(2, 1), (6, 1), (12, 3), (18, 4), (60, 15)]:
        topology = MixLN(Stack("decoder", 6, layers), 8)
        places = [Place(depth, 0, last=False) for depth in range(1, layers + 1)]
        assert [topology.is_post(place) for place in places] == [True] * quarter + [False] * (layers - quarter)
