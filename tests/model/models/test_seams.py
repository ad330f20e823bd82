"""Variants of one class and one row each, here or in the package: what the parts of a model may ask for."""

from typing import Any

import pytest
import torch
from test_model import PROPERTIES, check_every_parameter_gets_a_gradient, failures
from tiny_models.tiny import build, profiled
from torch import Tensor, nn

from realformer_nmt.model.residual import TOPOLOGIES
from realformer_nmt.model.scaling import SCALINGS, Gains, Scaling
from realformer_nmt.model.topologies.shortcuts import Plain, Shortcut
from realformer_nmt.model.topologies.topology import Place, Stack, Stream, Topology


class BothSides(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)


class Peri(Topology):
    """x = shortcut(x, g * LN(f(LN(x)))), g a number a sub-layer: Peri-LN (Kim et al. 2025) with a gain of its own."""

    renormalises = False

    def __init__(self, stack: Stack, width: int) -> None:
        super().__init__(stack, width)
        self.gain = nn.Parameter(torch.linspace(0.5, 1.5, stack.sublayers))

    def norm(self, _place: Place) -> nn.Module:
        return BothSides(self.width)

    def final_norm(self) -> nn.Module:
        return nn.LayerNorm(self.width)

    def read(self, stream: Stream, norm: nn.Module, _place: Place) -> Tensor:
        return norm.before(stream[0])

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module, place: Place) -> Stream:
        return (shortcut(stream[0], self.gain[place.number] * norm.after(branch)),)


def shrinking(_stack: Stack) -> Scaling:
    """The gain of the branch is 1 / sqrt(depth): depth-scaled initialisation (Zhang et al. 2019)."""
    return Scaling(lambda _width, _number: Plain(), lambda depth: Gains(output=depth**-0.5))


VARIANTS: dict[str, dict[str, Any]] = {
    "peri": {"residual_topology": "peri"},
    "shrinking": {"residual_scaling": "shrinking"},
    "etc": {
        "encoder_attention_pattern": "global_local",
        "encoder_window": 2,
        "encoder_global_tokens": 1,
        "encoder_relative_positions": 3,
        "score_carry": "mean",
    },
    "all": {"residual_topology": "peri", "score_carry": "first_values", "residual_scaling": "shrinking"},
}


@pytest.fixture(autouse=True)
def _rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOPOLOGIES, "peri", Peri)
    monkeypatch.setitem(SCALINGS, "shrinking", shrinking)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_makes_a_sequence_model_whose_weights_are_saved(variant: str) -> None:
    model = profiled(build(**VARIANTS[variant]))
    assert failures(model, (check_every_parameter_gets_a_gradient, *PROPERTIES)) == {}
    state = {name: weight + 1 for name, weight in model.state_dict().items()}
    model.load_state_dict(state)
    assert all(torch.equal(weight, state[name]) for name, weight in model.state_dict().items())
