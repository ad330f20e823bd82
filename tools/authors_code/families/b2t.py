"""B2T: layers of its encoder and its decoder, and by what it multiplies their initial weights."""

from pathlib import Path

from same_weights.draws import Outputs, factors, fill, largest_draws
from same_weights.stacks import initial_weights

from authors_code.layers import fairseq_layers
from authors_code.layers.fairseq_layers import Layers, options
from authors_code.record import Source, load

SOURCE = Source(
    "takase/b2t_connection", "c8e2ad4ed0b137bf267272419dbf71771dff9f64", "fairseq/modules/transformer_layer.py"
)


def run_code(checkout: Path) -> Outputs:
    code = load(checkout / SOURCE.file)

    def layers(long: bool) -> tuple[Layers, Layers]:
        cfg = options(residual_bottom_to_top=long, no_layer_norm=False)
        with largest_draws():
            return Layers(code.TransformerEncoderLayer, cfg), Layers(code.TransformerDecoderLayer, cfg)

    initial = factors(initial_weights(*layers(True)), initial_weights(*layers(False)))
    encoder, decoder = layers(True)
    return initial | fairseq_layers.both(fill(encoder), fill(decoder))
