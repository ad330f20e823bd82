"""A topology over linear branches, two sub-layers per layer, beside authors' layers whose branches are made linear."""

from collections.abc import Iterable

from authors_layers.same_weights import LAYERS, WIDTH, fill
from torch import Tensor, nn

from realformer_nmt.model.residual import TOPOLOGIES
from realformer_nmt.model.scaling import SCALINGS
from realformer_nmt.model.topologies.topology import Place, Stack


class LinearStack(nn.Module):
    """Encoder whose branches are W x; norms have the names of the real one, branches `self_attn` and `ffn`."""

    def __init__(self, topology: str, scaling: str = "none", norm: str = "rms") -> None:
        super().__init__()
        stack = Stack("encoder", LAYERS, 0, norm)
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
    """W x, whatever masks come with x."""

    def forward(self, x: Tensor, **_options: object) -> Tensor:
        return super().forward(x)
