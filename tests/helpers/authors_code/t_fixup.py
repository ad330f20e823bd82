"""T-Fixup: layers of its encoder and its decoder, and their initial weights."""

from pathlib import Path

import fairseq_layers
from fairseq_layers import Layers, options
from record_authors_code import Source, load
from same_layers import both, stacks, untrained
from same_weights import Outputs, bounds, fill, largest_draws
from torch import nn

SOURCE = Source(
    "layer6ai-labs/T-Fixup", "b17e166d9f60671a92c3f39e24c9b8c93995e5a3", "fairseq/modules/transformer_layer.py"
)
MATRICES = ("self_attn.q_proj", "self_attn.v_proj", "self_attn.out_proj", "fc1", "fc2")
IN_DECODER = ("encoder_attn.q_proj", "encoder_attn.v_proj", "encoder_attn.out_proj")


def theirs(checkout: Path) -> Outputs:
    code, cfg = load(checkout / SOURCE.file), options(Tfixup=True, dont_use_layernorm=True)
    with largest_draws():
        encoder, decoder = Layers(code.TransformerEncoderLayer, cfg), Layers(code.TransformerDecoderLayer, cfg)
    for layer in (*encoder.layers, *decoder.layers):
        layer.fixup_initialization(cfg)
    initial = scales(encoder, decoder)
    return initial | fairseq_layers.both(*(smaller(fill(side)) for side in (encoder, decoder)))


def smaller(side: nn.Module) -> nn.Module:
    """Halve all weights: without norms the numbers would grow too large to compare."""
    for parameter in side.parameters():
        parameter.data.mul_(0.5)
    return side


def scales(encoder: nn.Module, decoder: nn.Module) -> Outputs:
    return bounds("encoder", encoder.layers, *MATRICES) | bounds("decoder", decoder.layers, *MATRICES, *IN_DECODER)


def ours() -> Outputs:
    scaled = {"residual_topology": "no_norm", "residual_scaling": "t_fixup"}
    return scales(*untrained(**scaled)) | both(*(smaller(side) for side in stacks(**scaled)))
