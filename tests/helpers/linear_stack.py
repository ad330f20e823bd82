"""A topology over linear branches, two sub-layers per layer, beside authors' layers whose branches are made linear."""

from same_weights import LAYERS, WIDTH, fill
from torch import Tensor, nn

from realformer_nmt.model.residual import TOPOLOGIES
from realformer_nmt.model.scaling import SCALINGS, Stack
from realformer_nmt.model.topologies.topology import Place


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
