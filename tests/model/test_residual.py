"""Topologies over three sub-layers against their formulas, written out by hand."""

import torch
from formulas.topologies import Pass
from torch import Tensor, nn

from realformer_nmt.model.residual import TOPOLOGIES
from realformer_nmt.model.topologies.branch_norms import SubLN
from realformer_nmt.model.topologies.differential import Differential
from realformer_nmt.model.topologies.gated_attention import Gated
from realformer_nmt.model.topologies.shortcuts import Constant
from realformer_nmt.model.topologies.talking_heads import Talking
from realformer_nmt.model.topologies.topology import Place, Stack

WIDTH = 6
torch.manual_seed(2)
X = torch.randn(2, 3, WIDTH)
BRANCHES = [nn.Linear(WIDTH, WIDTH) for _ in range(3)]
NORMS = [nn.LayerNorm(WIDTH) for _ in range(3)]
for parameter in (p for norm in NORMS for p in norm.parameters()):
    nn.init.normal_(parameter)
W = 1.5
OF_ATTENTION = (Differential, Gated, SubLN, Talking)  # Pre-LN around other attentions


def normalise(x: Tensor, norm: nn.Module, eps: float = 1e-5) -> Tensor:
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / (variance + eps).sqrt() * norm.weight + norm.bias


def through(name: str) -> tuple[Tensor, nn.Module]:
    topology = TOPOLOGIES[name](Stack("decoder", 1, 1), WIDTH)
    final = topology.final_norm()
    for parameter in final.parameters():
        nn.init.normal_(parameter, std=2)
    stream = topology.enter(X)
    for index, (branch, norm) in enumerate(zip(BRANCHES, NORMS, strict=True)):
        place = Place(1, index, last=index == 2)
        stream = topology.write(stream, branch(topology.read(stream, norm, place)), Constant(W), norm, place)
    return topology.leave(stream, final), final


def test_post_ln() -> None:
    x = X
    for f, norm in zip(BRANCHES, NORMS, strict=True):
        x = normalise(W * x + f(x), norm)
    torch.testing.assert_close(through("post")[0], x)


def test_pre_ln() -> None:
    x = X
    for f, norm in zip(BRANCHES, NORMS, strict=True):
        x = W * x + f(normalise(x, norm))
    actual, final = through("pre")
    torch.testing.assert_close(actual, normalise(x, final))


def test_resi_dual() -> None:
    x, d = X, X
    for f, norm in zip(BRANCHES, NORMS, strict=True):
        b = f(x)
        x = normalise(W * x + b, norm)
        d = d + b
    actual, final = through("dual")
    torch.testing.assert_close(actual, x + normalise(d, final, eps=1e-7))


def test_the_topologies_are_told_apart() -> None:
    outputs = [Pass(kind).output for kind in TOPOLOGIES.values() if kind not in OF_ATTENTION]
    assert all((one - other).abs().max() > 0.1 for one in outputs for other in outputs if one is not other)
