"""Sub-LN: torchscale's encoder and decoder, and by what it multiplies their initial weights."""

from pathlib import Path

from same_weights.draws import Outputs, factors, fill

from authors_code.layers import torchscale_stacks as torchscale
from authors_code.layers.torchscale_stacks import NAMES
from authors_code.layers.torchscale_stacks import SOURCE as SOURCE


def run_code(checkout: Path) -> Outputs:
    scaled = torchscale.untrained(checkout, subln=True, decoder_normalize_before=True)
    plain = torchscale.untrained(checkout, subln=False)
    scales = [torchscale.scales(*stacks) for stacks in (scaled, plain)]
    encoder, decoder = (fill(side, NAMES) for side in scaled)
    return factors(*scales) | torchscale.run(encoder, decoder)
