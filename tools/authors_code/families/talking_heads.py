"""Talking heads: one self-attention of the authors'.

Their sums over heads start as random matrices; ours start as the identity.
"""

from pathlib import Path

from same_weights.draws import HEADS, WIDTH, Outputs, numbers

from authors_code.layers import mesh_layers
from authors_code.layers.mesh_layers import D, transposed
from authors_code.record import Source

SOURCE = Source(mesh_layers.REPOSITORY, mesh_layers.COMMIT, mesh_layers.FILE)
KINDS = ("key_heads", "softmax_heads", "value_heads")  # as many of each, but they are mixed where the names differ


def run_code(checkout: Path) -> Outputs:
    dims = {f"{kind}_dims": [(kind, HEADS)] for kind in KINDS}
    layer = mesh_layers.install(checkout).TalkingHeadsSelfAttention(key_size=D, value_size=D, **dims)
    heads = (WIDTH, HEADS, D)
    weights = {
        "q/kernel": transposed("q_proj", D**-0.5).reshape(heads),
        "k/kernel": transposed("k_proj").reshape(heads),
        "v/kernel": transposed("v_proj").reshape(heads),
        "logits/kernel": numbers("head_mixing.logit_weight", HEADS, HEADS).t(),
        "weights/kernel": numbers("head_mixing.probability_weight", HEADS, HEADS).t(),
        "y/kernel": transposed("out_proj").reshape(HEADS, D, WIDTH),
    }
    return mesh_layers.run_code(layer, weights, "output")
