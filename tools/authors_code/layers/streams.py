"""Hyper-connections over linear branches.

The authors have published no code: this is another's, after the algorithm in their appendix. Its norm of the streams,
RMS where the paper's is LN, has no epsilon.
"""

from pathlib import Path
from types import ModuleType

from same_weights.draws import LAYERS, WIDTH, Outputs, fill, passed
from torch import Tensor, nn

from authors_code.record import Source, load
from realformer_nmt.model.topologies.hyper_connections import STREAMS

FILE = "hyper_connections/hyper_connections.py"
SOURCE = Source("lucidrains/hyper-connections", "47751035f6e92f73121f1da56603f0d410115799", FILE)
NAMES = {
    "dynamic_alpha_fn": "dynamic_alpha",
    "dynamic_beta_fn": "dynamic_beta",
    "dynamic_alpha_scale": "alpha_scale",
    "dynamic_beta_scale": "beta_scale",
    ".norm.gamma": ".stream_gain",
}
INITIAL = {  # ours by theirs
    "static_alpha": "static_alpha",
    "static_beta": "static_beta",
    **{their_name: our_name for their_name, our_name in NAMES.items() if not their_name.startswith(".")},
}
SUBLAYERS = {"self_attn": "self_attn_layer_norm", "ffn": "final_layer_norm"}


class TheirStack(nn.Module):
    """Layers with connections of a class of theirs, by the names of ours."""

    def __init__(self, code: ModuleType, kind: str) -> None:
        super().__init__()
        self.enter, self.leave = code.get_expand_reduce_stream_functions(STREAMS)
        self.layers = nn.ModuleList(nn.ModuleDict() for _ in range(LAYERS))
        for number in range(2 * LAYERS):
            branch, norm = list(SUBLAYERS.items())[number % 2]
            connections = getattr(code, kind)(STREAMS, dim=WIDTH, layer_index=number)
            connections.input_norm = nn.RMSNorm(WIDTH, eps=1e-5)
            self.layers[number // 2].update({branch: nn.Linear(WIDTH, WIDTH, bias=False), norm: connections})
        self.layer_norm = nn.RMSNorm(WIDTH, eps=1e-5)

    def forward(self, x: Tensor) -> Tensor:
        streams = self.enter(x)
        for layer in self.layers:
            for branch, norm in SUBLAYERS.items():
                x, add = layer[norm](streams)
                streams = add(layer[branch](layer[norm].input_norm(x)))
        normed: Tensor = self.layer_norm(self.leave(streams))
        return normed


def run_code(checkout: Path, dynamic: bool) -> Outputs:
    stack = TheirStack(load(checkout / FILE), "HyperConnections")
    fifth = stack.layers[2]["self_attn_layer_norm"]
    initial = {f"initial_{new}": getattr(fifth, name).detach().clone() for name, new in INITIAL.items()}
    fill(stack, NAMES)
    for name, parameter in stack.named_parameters():
        if name.endswith("gamma"):  # the gain less 1
            parameter.data -= 1
        if name.endswith("_fn") and not dynamic:
            parameter.data.zero_()
    return initial | passed(stack)
