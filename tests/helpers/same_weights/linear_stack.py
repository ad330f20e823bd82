"""Topologies over linear branches, two sub-layers per layer."""

from functools import partial
from unittest import mock

import torch
from same_weights.draws import LAYERS, WIDTH, Outputs, fill, passed
from torch import Tensor, nn

from realformer_nmt.model.norms import rms_factor
from realformer_nmt.model.presets import FAMILIES
from realformer_nmt.model.residual import TOPOLOGIES
from realformer_nmt.model.scaling import SCALINGS
from realformer_nmt.model.topologies import hyper_connections, manifold_connections
from realformer_nmt.model.topologies.permutation_connections import PermutationMean
from realformer_nmt.model.topologies.topology import Place, Stack

HYPER = ("static_alpha", "static_beta", "dynamic_alpha", "dynamic_beta", "alpha_scale", "beta_scale")
UPDATES = (1, 1500, 4000)


class LinearStack(nn.Module):
    """Encoder whose branches are W x; norms have the names of the real one, branches `self_attn` and `ffn`."""

    def __init__(self, topology: str, scaling: str, norm: str, blocks: int) -> None:
        super().__init__()
        stack = Stack("encoder", LAYERS, 0, norm, blocks)
        self.topology = TOPOLOGIES[topology](stack, WIDTH)
        self.layers = nn.ModuleList(nn.ModuleDict(self.sublayers(layer)) for layer in range(LAYERS))
        self.layer_norm = self.topology.final_norm()
        self.shortcuts = nn.ModuleList(SCALINGS[scaling](stack).shortcut(WIDTH, number) for number in range(2 * LAYERS))
        fill(self)

    def sublayers(self, layer: int) -> dict[str, nn.Module]:
        return {
            "self_attn": nn.Linear(WIDTH, WIDTH, bias=False),
            "self_attn_layer_norm": self.topology.norm(Place(layer + 1, 2 * layer, last=False)),
            "ffn": nn.Linear(WIDTH, WIDTH, bias=False),
            "final_layer_norm": self.topology.norm(Place(layer + 1, 2 * layer + 1, last=True)),
        }

    def forward(self, x: Tensor) -> Tensor:
        stream = self.topology.enter(x)
        for number, shortcut in enumerate(self.shortcuts):
            place = Place(number // 2 + 1, number, last=number % 2 == 1)
            branch, norm = ("ffn", "final_layer_norm") if place.last else ("self_attn", "self_attn_layer_norm")
            layer = self.layers[number // 2]
            x = self.topology.read(stream, layer[norm], place)
            stream = self.topology.write(stream, layer[branch](x), shortcut, layer[norm], place)
        return self.topology.leave(stream, self.layer_norm)


def stack_of(family: str, norm: str = "rms", blocks: int = LAYERS) -> LinearStack:
    """Return a family's topology and scaling over linear branches, with the norm of its authors' code."""
    return LinearStack(FAMILIES[family]["residual_topology"], FAMILIES[family]["residual_scaling"], norm, blocks)


def linear(family: str, norm: str = "rms", blocks: int = LAYERS) -> Outputs:
    return passed(stack_of(family, norm, blocks))


def dense_former() -> Outputs:
    start = TOPOLOGIES["dense_former"](Stack("encoder", LAYERS, 0), WIDTH).weights.detach()
    initial = {f"initial_weights_{layer}": row[: layer + 2] for layer, row in enumerate(start)}
    return initial | linear("dense_former", norm="layer")


def hyper(family: str) -> Outputs:
    """Return what theirs computes, whose norm of the streams has no epsilon."""
    start = hyper_connections.Dynamic(nn.Identity(), WIDTH, number=4)
    initial = {f"initial_{name}": getattr(start, name).detach() for name in HYPER}
    with mock.patch.object(hyper_connections, "rms_factor", partial(rms_factor, eps=0.0)):
        return initial | linear(family)


def mhc_lite() -> Outputs:
    """Return what theirs computes, whose norm of the streams has an epsilon for a length of 0 alone."""
    start = PermutationMean(nn.Identity(), WIDTH, number=4)
    with mock.patch.object(manifold_connections, "EPS", 0.0):
        return {"initial_bias": start.bias.detach()} | linear("mhc_lite")


def peri_ln() -> Outputs:
    stack = stack_of("peri_ln")
    stack.topology.embedding_norm = nn.Identity()
    return passed(stack)


def pro_res() -> Outputs:
    stack = stack_of("pro_res")
    outputs = {"growing": torch.tensor([float(shortcut.updates) for shortcut in stack.shortcuts[::2]])}
    for update in UPDATES:
        for shortcut in stack.shortcuts:
            shortcut.set_num_updates(update - 1)
        outputs |= passed(stack, f"update_{update}")
    return outputs
