"""B2T: layers of its encoder and its decoder, and by what it multiplies their initial weights."""

from pathlib import Path

from authors_layers.same_layers import both, stacks, untrained
from authors_layers.same_weights import Outputs, bounds, factors, fill, largest_draws
from torch import nn

from authors_code.layers import fairseq_layers
from authors_code.layers.fairseq_layers import Layers, options
from authors_code.record import Source, load

SOURCE = Source(
    "takase/b2t_connection", "c8e2ad4ed0b137bf267272419dbf71771dff9f64", "fairseq/modules/transformer_layer.py"
)
MATRICES = ("self_attn.q_proj", "self_attn.v_proj", "self_attn.out_proj", "fc1", "fc2")
IN_DECODER = ("encoder_attn.q_proj", "encoder_attn.v_proj", "encoder_attn.out_proj")


def theirs(checkout: Path) -> Outputs:
    code = load(checkout / SOURCE.file)

    def layers(long: bool) -> tuple[Layers, Layers]:
        cfg = options(residual_bottom_to_top=long, no_layer_norm=False)
        with largest_draws():
            return Layers(code.TransformerEncoderLayer, cfg), Layers(code.TransformerDecoderLayer, cfg)

    initial = factors(scales(*layers(True)), scales(*layers(False)))
    encoder, decoder = layers(True)
    return initial | fairseq_layers.both(fill(encoder), fill(decoder))


def scales(encoder: nn.Module, decoder: nn.Module) -> Outputs:
    return bounds("encoder", encoder.layers, *MATRICES) | bounds("decoder", decoder.layers, *MATRICES, *IN_DECODER)


def ours() -> Outputs:
    scaled = {"residual_topology": "b2t", "residual_scaling": "b2t"}
    initial = factors(scales(*untrained(**scaled)), scales(*untrained()))
    return initial | both(*stacks(**scaled))
