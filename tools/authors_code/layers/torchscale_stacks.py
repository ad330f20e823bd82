"""torchscale's whole encoder and decoder, on vectors instead of words."""

import sys
from pathlib import Path
from typing import Any

import torch
from same_weights.draws import SHAPE, Outputs, largest_draws, passed
from same_weights.stacks import MEMORY, initial_weights
from torch import Tensor, nn

from authors_code.layers.fairseq_layers import options
from authors_code.record import Source, stand_in

COMMIT = "4d1e0e82e5adf86dd424f1463192635b73fc8efc"
SOURCE = Source("microsoft/torchscale", COMMIT, "torchscale/architecture/encoder.py and decoder.py")
NAMES = {"ffn.": "", "inner_attn_ln": "head_output.norm", "ffn_layernorm": "hidden_norm"}
WORDS = torch.zeros(SHAPE[:2], dtype=torch.long)


def untrained(checkout: Path, **scheme: bool) -> tuple[nn.Module, nn.Module]:
    """Build both with the largest initial weights."""
    stand_in("fairscale.nn", "checkpoint_wrapper", "wrap")
    stand_in("timm.models.layers", "drop_path")
    sys.path.insert(0, str(checkout))
    from torchscale.architecture import config, decoder, encoder

    cfg = config.EncoderDecoderConfig(**vars(options(**(scheme | {"activation_fn": "relu", "no_output_layer": True}))))
    with largest_draws():
        return encoder.Encoder(cfg, is_encoder_decoder=True), decoder.Decoder(cfg, is_encoder_decoder=True)


def scales(encoder: Any, decoder: Any) -> Outputs:
    """Return the initial weights, with the matrices of the feed-forward blocks where other codes have them."""
    for layer in (*encoder.layers, *decoder.layers):
        layer.fc1, layer.fc2 = layer.ffn.fc1, layer.ffn.fc2
    return initial_weights(encoder, decoder)


def run(encoder: nn.Module, decoder: nn.Module) -> Outputs:
    def encode(x: Tensor) -> Tensor:
        return encoder(None, token_embeddings=x)["encoder_out"]

    def decode(x: Tensor) -> Tensor:
        memory = {"encoder_out": MEMORY, "encoder_padding_mask": WORDS.bool()}
        return decoder(WORDS, encoder_out=memory, token_embeddings=x, features_only=True)[0]

    return passed(encode, "encoder") | passed(decode, "decoder")
