"""Authors' layers, whose branches are replaced by linear ones."""

from collections.abc import Iterable

from same_weights.draws import WIDTH
from torch import Tensor, nn


class LinearLayers(nn.Module):
    """Authors' layers, whose branches are made linear, and a final norm."""

    def __init__(self, layers: list[nn.Module], final_norm: nn.Module) -> None:
        super().__init__()
        self.layers, self.layer_norm = nn.ModuleList(layers), final_norm
        linear_branches(self.layers)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return self.layer_norm(x)


def linear_branches(layers: Iterable[nn.Module]) -> None:
    for layer in layers:
        layer.attn, layer.mlp = AnyLinear(WIDTH, WIDTH, bias=False), AnyLinear(WIDTH, WIDTH, bias=False)


class AnyLinear(nn.Linear):
    """W x, whatever comes with x."""

    def forward(self, x: Tensor, *_: object, **_options: object) -> Tensor:
        return super().forward(x)
