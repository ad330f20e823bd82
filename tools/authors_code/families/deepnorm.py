"""DeepNorm: torchscale's encoder and decoder, and by what it multiplies the decoder's initial weights.

In the encoder it multiplies them by 1.15 (N^4 M)^-1/16, and the paper by 0.87 = 1 / 1.15 times as much.
"""

from pathlib import Path

from same_weights.draws import Outputs, factors, fill
from same_weights.families import decoder_scales

from authors_code.layers import torchscale_stacks as torchscale
from authors_code.layers.torchscale_stacks import NAMES
from authors_code.layers.torchscale_stacks import SOURCE as SOURCE


def run_code(checkout: Path) -> Outputs:
    scaled = torchscale.untrained(checkout, deepnorm=True)
    plain = torchscale.untrained(checkout, subln=False, encoder_normalize_before=False)
    initial = factors(*(torchscale.scales(*stacks) for stacks in (scaled, plain)))
    encoder, decoder = (fill(side, NAMES) for side in scaled)
    return decoder_scales(initial) | torchscale.run(encoder, decoder)
