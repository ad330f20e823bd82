"""Mixture-of-depths attention: blocks of the authors' DeiT, with the loop of their tests in place of the kernel.

The loop is causal. Feed-forward blocks are ours.
"""

from pathlib import Path
from typing import Any

from same_weights.draws import HEADS, WIDTH, Outputs, fill, passed
from torch import Tensor, nn

from authors_code.layers.fairseq_layers import Layers
from authors_code.layers.llama_layers import FeedForward
from authors_code.record import Source, load, stand_in_imports

SOURCE = Source("hustvl/MoDA", "36a225f4aefa016da7c3e53517d617de07e384d6", "vision_tasks/deit/models.py")
TESTS = "libs/moda_triton/tests/ops/test_moda.py"
NAMES = {
    "norm1": "self_attn_layer_norm",
    "norm2": "final_layer_norm",
    "attn.kv": "self_attn.(k|v)_proj",
    "attn.proj": "self_attn.out_proj",
    "attn.q": "self_attn.q_proj",
    "mlp.": "",
}


def run_code(checkout: Path) -> Outputs:
    for file in (SOURCE.file, TESTS):
        stand_in_imports(checkout / file, "timm", "fla")
    loop, code = load(checkout / TESTS).naive_mixture_of_depth_causal_ref, load(checkout / SOURCE.file)

    def attend(q: Tensor, k: Tensor, v: Tensor, cached_k: Tensor, cached_v: Tensor, **_options: Any) -> Tensor:
        output: Tensor = loop(q, k, v, cached_k, cached_v)[0]
        return output

    def run(x: Tensor) -> Tensor:
        pairs: list[list[Tensor]] = []
        for layer in layers.layers:
            x, *pair = layer(x, *code.MoDAVisionTransformer._build_depth_cache(None, pairs))
            pairs.append(pair)
        return layers.layer_norm(x)

    code.parallel_moda = attend
    layers = Layers(lambda _: code.MoDABlock(WIDTH, HEADS, HEADS, qkv_bias=True), None, nn.LayerNorm(WIDTH))
    for layer in layers.layers:
        layer.mlp = FeedForward()
    fill(layers, NAMES)
    return passed(run, "encoder")
