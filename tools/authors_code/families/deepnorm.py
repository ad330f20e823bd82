"""DeepNorm: torchscale's encoder and decoder, and by what it multiplies the decoder's initial weights.

In the encoder it multiplies them by 1.15 (N^4 M)^-1/16, and the paper by 0.87 = 1 / 1.15 times as much.
"""

from pathlib import Path

from authors_layers.same_layers import both, stacks, untrained
from authors_layers.same_weights import Outputs, factors, fill

from authors_code.layers import torchscale_stacks as torchscale
from authors_code.layers.torchscale_stacks import NAMES
from authors_code.layers.torchscale_stacks import SOURCE as SOURCE


def theirs(checkout: Path) -> Outputs:
    scaled = torchscale.untrained(checkout, deepnorm=True)
    plain = torchscale.untrained(checkout, subln=False, encoder_normalize_before=False)
    initial = factors(*(torchscale.scales(*stacks, feed_forward="ffn.") for stacks in (scaled, plain)))
    encoder, decoder = (fill(side, NAMES) for side in scaled)
    return compared(initial) | torchscale.run(encoder, decoder)


def compared(initial: Outputs) -> Outputs:
    kinds = ("out_proj", "fc1", "fc2")
    return {name: value for name, value in initial.items() if name.startswith("decoder") and name.endswith(kinds)}


def ours() -> Outputs:
    scaled = {"residual_scaling": "deepnorm"}
    initial = factors(torchscale.scales(*untrained(**scaled)), torchscale.scales(*untrained()))
    return compared(initial) | both(*stacks(**scaled))
