"""Res-Post-Norm: layers of Swin-v2 with linear branches; its attention has no mask in a single window."""

from pathlib import Path

from same_weights.draws import HEADS, LAYERS, SHAPE, WIDTH, Outputs, fill, passed
from torch import nn

from authors_code.layers.linear_layers import LinearLayers
from authors_code.record import Source, load, stand_in

SOURCE = Source(
    "microsoft/Swin-Transformer", "f82860bfb5225915aca09c3227159ee9e1df874d", "models/swin_transformer_v2.py"
)
NAMES = {"norm1": "self_attn_layer_norm", "norm2": "final_layer_norm", "attn.": "self_attn.", "mlp": "ffn"}


def run_code(checkout: Path) -> Outputs:
    timm = stand_in("timm.models.layers", "DropPath", "trunc_normal_")
    timm.to_2tuple = lambda size: (size, size)
    kind, picture = load(checkout / SOURCE.file).SwinTransformerBlock, (SHAPE[1], 1)
    layers = [kind(WIDTH, picture, HEADS, window_size=2) for _ in range(LAYERS)]
    return passed(fill(LinearLayers(layers, nn.LayerNorm(WIDTH)), NAMES))
