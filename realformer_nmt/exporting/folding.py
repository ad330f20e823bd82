"""Folding of the weights of shortcuts into neighbouring weights: LN(w * x + f(x)) = LN(x' + f'(x')) with x' = w * x.

A weight of the branch goes into the last weights of f.

x is the output of a norm: that norm's gain and bias are multiplied by w, and the columns of the weights of f that read
x are divided by w. The first x of a stack is the embeddings, whose norm is that of --layernorm-embedding. Without that
norm the tables of words and positions are multiplied by w; sinusoidal positions become a table for this.
"""

from typing import NamedTuple

from torch import Tensor, nn

from realformer_nmt.model.models.admin_profile import shortcuts
from realformer_nmt.model.stack import Side

Weights = dict[str, Tensor]  # in fp64, none shared


class FoldedSublayer(NamedTuple):
    norm: str  # of its output
    readers: tuple[str, ...]  # weights that multiply its input
    writer: str  # of the branch


SUBLAYERS = {  # by their shortcut
    "self_attn_shortcut": FoldedSublayer(
        "self_attn_layer_norm", ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"), "self_attn.out_proj"
    ),
    "encoder_attn_shortcut": FoldedSublayer(
        "encoder_attn_layer_norm", ("encoder_attn.q_proj",), "encoder_attn.out_proj"
    ),
    "ffn_shortcut": FoldedSublayer("final_layer_norm", ("fc1",), "fc2"),
}


def fold(side: str, stack: Side, weights: Weights) -> None:
    """Fold all shortcuts of one side, in place."""
    writers: tuple[str, ...] = ()  # of x: a norm's gain and bias
    for name, shortcut in shortcuts(stack):
        layer, _, kind = name.rpartition(".")
        norm, readers, writer = SUBLAYERS[kind]
        share = shortcut.branch_weight().detach().double()  # C, or a scalar
        weights[f"{side}.{layer}.{writer}.weight"] *= share.unsqueeze(-1)  # C x inputs
        weights[f"{side}.{layer}.{writer}.bias"] *= share
        w = shortcut.weight().detach().double()  # C, or a scalar
        if not w.eq(1).all():
            for writer in writers or embedding_writers(side, stack, weights):
                weights[writer] *= w
            for reader in readers:
                weights[f"{side}.{layer}.{reader}.weight"] /= w  # outputs x C
        writers = tuple(f"{side}.{layer}.{norm}.{part}" for part in ("weight", "bias"))


def embedding_writers(side: str, stack: Side, weights: Weights) -> list[str]:
    """Return the names of the weights that write the stream before the first layer."""
    if isinstance(stack.layernorm_embedding, nn.LayerNorm):
        return [f"{side}.layernorm_embedding.{part}" for part in ("weight", "bias")]
    positions = f"{side}.embed_positions.weight"
    if stack.embed_positions is not None and positions not in weights:
        weights[positions] = stack.embed_positions.weights.double()  # fairseq's name for sines and cosines
    return [name for name in (f"{side}.embed_tokens.weight", positions) if name in weights]
