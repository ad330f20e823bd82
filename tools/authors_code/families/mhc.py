"""Manifold-constrained hyper-connections, of layers with linear branches.

It is the reference that DeepSeek test their kernels against, whose outputs in bf16 are left in fp32. Their models end
with a weighted sum of the streams, Megatron-LM's and ours with their mean.
"""

from pathlib import Path
from unittest import mock

import torch
from same_weights.draws import LAYERS, WIDTH, Outputs, fill, passed
from torch import Tensor, nn

from authors_code.layers.streams import SUBLAYERS
from authors_code.record import Source, load
from realformer_nmt.model.topologies.hyper_connections import STREAMS
from realformer_nmt.model.topologies.manifold_connections import EPS, ROUNDS

FILE = "tile_kernels/torch/mhc.py"
SOURCE = Source("deepseek-ai/TileKernels", "36d9e45d38e204ebb87e6f6e833821eee0482fe5", FILE)


class Connections(nn.Module):
    """Weights of one sub-layer, by the names of ours."""

    def __init__(self) -> None:
        super().__init__()
        outputs = STREAMS * (2 + STREAMS)
        self.map, self.bias = nn.Parameter(torch.empty(outputs, STREAMS * WIDTH)), nn.Parameter(torch.empty(outputs))
        self.scales, self.input_norm = nn.Parameter(torch.empty(3)), nn.RMSNorm(WIDTH, eps=1e-5)


class TheirStack(nn.Module):
    """Layers with their connections, by the names of ours."""

    def __init__(self, checkout: Path) -> None:
        super().__init__()
        self.code = load(checkout / FILE)
        self.layers = nn.ModuleList(nn.ModuleDict() for _ in range(LAYERS))
        for layer in self.layers:
            for branch, norm in SUBLAYERS.items():
                layer.update({branch: nn.Linear(WIDTH, WIDTH, bias=False), norm: Connections()})
        self.layer_norm = nn.RMSNorm(WIDTH, eps=1e-5)

    def forward(self, x: Tensor) -> Tensor:
        streams = self.code.expand_to_mhc_ref(x, STREAMS)
        for layer in self.layers:
            for branch, norm in SUBLAYERS.items():
                streams = self.sublayer(streams, layer[branch], layer[norm])
        normed: Tensor = self.layer_norm(streams.mean(-2))
        return normed

    def sublayer(self, streams: Tensor, branch: nn.Module, connections: Connections) -> Tensor:
        mixes = self.code.mhc_pre_norm_fn_ref(streams, connections.map, None, EPS)
        split = self.code.mhc_pre_split_mixes_ref(mixes, connections.scales, connections.bias, STREAMS, 2.0, EPS)
        reading, writing, logits = split
        carrying = self.code.sinkhorn_normalize_ref(logits, ROUNDS, EPS)
        read = self.code.mhc_pre_apply_mix_ref(streams, reading)
        written: Tensor = self.code.mhc_post_ref(branch(connections.input_norm(read)), streams, writing, carrying)
        return written


def run_code(checkout: Path) -> Outputs:
    with mock.patch.object(Tensor, "bfloat16", Tensor.float):
        return passed(fill(TheirStack(checkout)))
