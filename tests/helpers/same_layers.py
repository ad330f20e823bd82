"""Our encoder and decoder with the weights of their names, run on vectors instead of words."""

import torch
from same_weights import HEADS, LAYERS, SHAPE, fill, numbers
from tiny import build
from torch import Tensor

from realformer_nmt.model.decoder import Decoder
from realformer_nmt.model.encoder import Encoder

MEMORY = numbers("memory", *SHAPE)
FUTURE = torch.ones(SHAPE[1], SHAPE[1], dtype=torch.bool).triu(1)  # what a position of the decoder does not see


def stacks(**options: object) -> tuple[Encoder, Decoder]:
    layers = {f"{side}_{part}": number for side in ("encoder", "decoder") for part, number in SIZES.items()}
    model = build(**(layers | options))
    return fill(model.encoder), fill(model.decoder)


SIZES = {"layers": LAYERS, "attention_heads": HEADS}


def encode(encoder: Encoder, x: Tensor) -> Tensor:
    stream, carried = encoder.topology.enter(x), ()
    for layer in encoder.layers:
        stream, carried = encoder.run(layer, stream, torch.zeros(len(x), 1, 1, x.size(1), dtype=torch.bool), carried)
    return encoder.topology.leave(stream, encoder.layer_norm)


def decode(decoder: Decoder, x: Tensor) -> Tensor:
    masks = FUTURE, torch.zeros(len(x), 1, 1, MEMORY.size(1), dtype=torch.bool)
    return decoder.write(x, MEMORY, masks, [(None, None)] * len(decoder.layers))[0]
