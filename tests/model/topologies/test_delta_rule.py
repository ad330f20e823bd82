"""Deep delta learning beside its formula: what the direction of a branch does, and its length does not."""

import pytest
import torch
from torch import Tensor

from realformer_nmt.model.topologies.delta_rule import DeepDelta
from realformer_nmt.model.topologies.shortcuts import Plain
from realformer_nmt.model.topologies.topology import Place, Stack

PLACE = Place(1, 0, last=False)
TOPOLOGY = DeepDelta(Stack("encoder", 1, 1), 8)


def written(x: Tensor, branch: Tensor) -> Tensor:
    torch.manual_seed(1)
    norm = TOPOLOGY.norm(PLACE).to(x.dtype)
    (stream,) = TOPOLOGY.write((x,), branch, Plain(), norm, PLACE)
    return stream


def test_only_the_direction_of_a_branch_counts() -> None:
    x, branch = torch.randn(2, 3, 8), torch.randn(2, 3, 8)
    torch.testing.assert_close(written(x, branch), written(x, 1000 * branch))
    moved = written(x, branch) - x
    across = moved - branch * (moved * branch).sum(-1, keepdim=True) / branch.square().sum(-1, keepdim=True)
    torch.testing.assert_close(across, torch.zeros_like(across), rtol=0, atol=1e-5)
    assert torch.equal(written(x, torch.zeros_like(x)), x)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_length_of_a_branch_is_in_fp32(dtype: torch.dtype) -> None:
    x, branch = torch.randn(2, 3, 8), torch.randn(2, 3, 8)
    half = written(x.to(dtype), (1e4 * branch).to(dtype))
    torch.testing.assert_close(half.float(), written(x, branch), rtol=0.05, atol=0.05)
