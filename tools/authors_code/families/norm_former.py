"""NormFormer: fairseq's own decoder layers without --scale-heads, with the installed attention."""

from pathlib import Path

from same_weights.draws import LAYERS, WIDTH, Outputs, fill, numbers, passed
from torch import nn

from authors_code.layers import fairseq_layers
from authors_code.layers.fairseq_layers import Layers, options
from authors_code.record import Source, load

SOURCE = Source(
    "facebookresearch/fairseq", "3d262bb25690e4eb2e7d3c1309b1e9c406ca4b99", "fairseq/modules/transformer_layer.py"
)
NAMES = {"_layer_norm": "_layer_norm.before", "attn_ln": "self_attn_layer_norm.after", "ffn_layernorm": "hidden_norm"}


def run_code(checkout: Path) -> Outputs:
    cfg = options(decoder_normalize_before=True, scale_attn=True, scale_fc=True, scale_resids=True)
    decoder = Layers(load(checkout / SOURCE.file).TransformerDecoderLayer, cfg, nn.LayerNorm(WIDTH))
    fill(decoder, NAMES)
    for layer, gains in zip(decoder.layers, numbers("topology.stream_gains", LAYERS, WIDTH), strict=True):
        layer.w_resid.data.copy_(gains)
    return passed(lambda x: fairseq_layers.decode(decoder, x))
