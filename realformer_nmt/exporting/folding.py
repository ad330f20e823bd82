"""The weights of shortcuts, folded into the weights around them: LN(w * x + f(x)) is LN(x' + f'(x')) with x' = w * x.

x is the output of a norm: w is multiplied into that norm's gain and bias, and divided out of the columns of those
weights of f that read x. The first x of a stack is the embeddings, whose norm is that of --layernorm-embedding; without
it, w is multiplied into the tables of words and positions, for which sinusoidal positions become a table.
"""

from typing import NamedTuple

from torch import Tensor, nn

from realformer_nmt.common.errors import UserError
from realformer_nmt.model.admin_profile import shortcuts
from realformer_nmt.model.stack import Side

Weights = dict[str, Tensor]  # in fp64, each a tensor of its own


class Sublayer(NamedTuple):
    norm: str  # of its output
    readers: tuple[str, ...]  # of its input


SUBLAYERS = {  # by their shortcut
    "self_attn_shortcut": Sublayer(
        "self_attn_layer_norm", ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")
    ),
    "encoder_attn_shortcut": Sublayer("encoder_attn_layer_norm", ("encoder_attn.q_proj",)),
    "ffn_shortcut": Sublayer("final_layer_norm", ("fc1",)),
}


def fold(side: str, stack: Side, weights: Weights) -> None:
    """All shortcuts of one side, in place."""
    writers: tuple[str, ...] = ()  # of x: a norm's gain and bias
    for name, shortcut in shortcuts(stack):
        layer, _, kind = name.rpartition(".")
        norm, readers = SUBLAYERS[kind]
        w = shortcut.weight().detach().double()  # C, or a scalar
        if not w.eq(1).all():
            demand_invertible(f"{side}.{name}", w)
            for writer in writers or of_embeddings(side, stack, weights):
                weights[writer] *= w
            for reader in readers:
                weights[f"{side}.{layer}.{reader}.weight"] /= w  # outputs x C
        writers = tuple(f"{side}.{layer}.{norm}.{part}" for part in ("weight", "bias"))


def of_embeddings(side: str, stack: Side, weights: Weights) -> list[str]:
    """What the stream is made of before the first layer."""
    if isinstance(stack.layernorm_embedding, nn.LayerNorm):
        return [f"{side}.layernorm_embedding.{part}" for part in ("weight", "bias")]
    positions = f"{side}.embed_positions.weight"
    if stack.embed_positions is not None and positions not in weights:
        weights[positions] = stack.embed_positions.weights.double()  # fairseq's name for sines and cosines
    return [name for name in (f"{side}.embed_tokens.weight", positions) if name in weights]


def demand_invertible(name: str, w: Tensor) -> None:
    if not w.ne(0).all():
        raise UserError(f"{name} has a weight of 0, which no plain shortcut can have: --to onnx takes every model")
