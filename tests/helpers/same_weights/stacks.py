"""Our encoder and decoder with the weights of their names, run on vectors instead of words."""

import torch
from same_weights.draws import HEADS, LAYERS, SHAPE, Outputs, bounds, fill, largest_draws, numbers, passed
from tiny_models.tiny import build
from torch import Tensor, nn

from realformer_nmt.model.decoder import Decoder
from realformer_nmt.model.encoder import Encoder

MEMORY = numbers("memory", *SHAPE)
VISIBLE = torch.zeros(SHAPE[0], 1, 1, SHAPE[1], dtype=torch.bool)
FUTURE = torch.ones(SHAPE[1], SHAPE[1], dtype=torch.bool).triu(1)  # what a causal position does not see
MATRICES = ("self_attn.q_proj", "self_attn.v_proj", "self_attn.out_proj", "fc1", "fc2")
IN_DECODER = ("encoder_attn.q_proj", "encoder_attn.v_proj", "encoder_attn.out_proj")
SIZES = {
    f"{side}_{part}": number
    for side in ("encoder", "decoder")
    for part, number in {"layers": LAYERS, "attention_heads": HEADS}.items()
}


def untrained(**options: object) -> tuple[Encoder, Decoder]:
    with largest_draws():
        model = build(**(SIZES | options))
    return model.encoder, model.decoder


def initial_weights(encoder: nn.Module, decoder: nn.Module) -> Outputs:
    return bounds("encoder", encoder.layers, *MATRICES) | bounds("decoder", decoder.layers, *MATRICES, *IN_DECODER)


def stacks(**options: object) -> tuple[Encoder, Decoder]:
    encoder, decoder = untrained(**options)
    return fill(encoder), fill(decoder)


def encode(encoder: Encoder, x: Tensor, hidden: Tensor = VISIBLE) -> Tensor:
    stream, carried = encoder.topology.enter(x), ()
    for layer in encoder.layers:
        stream, carried = encoder.run(layer, stream, hidden, carried)
    return encoder.topology.leave(stream, encoder.layer_norm)


def decode(decoder: Decoder, x: Tensor) -> Tensor:
    masks = FUTURE, torch.zeros(len(x), 1, 1, MEMORY.size(1), dtype=torch.bool)
    return decoder.write(x, MEMORY, masks, [(None, None)] * len(decoder.layers))[0]


def encoded(encoder: Encoder, name: str = "encoder", hidden: Tensor = VISIBLE) -> Outputs:
    return passed(lambda x: encode(encoder, x, hidden), name)


def decoded(decoder: Decoder, name: str = "decoder") -> Outputs:
    return passed(lambda x: decode(decoder, x), name)


def both(encoder: Encoder, decoder: Decoder) -> Outputs:
    return encoded(encoder) | decoded(decoder)
