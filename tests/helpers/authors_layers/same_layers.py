"""Our encoder and decoder with the weights of their names, run on vectors instead of words."""

import torch
from authors_layers.same_weights import HEADS, LAYERS, SHAPE, Outputs, fill, largest_draws, numbers, passed
from tiny_models.tiny import build
from torch import Tensor

from realformer_nmt.model.decoder import Decoder
from realformer_nmt.model.encoder import Encoder

MEMORY = numbers("memory", *SHAPE)
FUTURE = torch.ones(SHAPE[1], SHAPE[1], dtype=torch.bool).triu(1)  # what a position of the decoder does not see


SIZES = {
    f"{side}_{part}": number
    for side in ("encoder", "decoder")
    for part, number in {"layers": LAYERS, "attention_heads": HEADS}.items()
}


def untrained(**options: object) -> tuple[Encoder, Decoder]:
    with largest_draws():
        model = build(**(SIZES | options))
    return model.encoder, model.decoder


def stacks(**options: object) -> tuple[Encoder, Decoder]:
    encoder, decoder = untrained(**options)
    return fill(encoder), fill(decoder)


def encode(encoder: Encoder, x: Tensor) -> Tensor:
    stream, carried = encoder.topology.enter(x), ()
    for layer in encoder.layers:
        stream, carried = encoder.run(layer, stream, torch.zeros(len(x), 1, 1, x.size(1), dtype=torch.bool), carried)
    return encoder.topology.leave(stream, encoder.layer_norm)


def decode(decoder: Decoder, x: Tensor) -> Tensor:
    masks = FUTURE, torch.zeros(len(x), 1, 1, MEMORY.size(1), dtype=torch.bool)
    return decoder.write(x, MEMORY, masks, [(None, None)] * len(decoder.layers))[0]


def both(encoder: Encoder, decoder: Decoder) -> Outputs:
    return passed(lambda x: encode(encoder, x), "encoder") | passed(lambda x: decode(decoder, x), "decoder")
