"""Layers of fairseq and of its forks: their options, and how they are run."""

from argparse import Namespace
from collections.abc import Callable

import torch
from same_weights.draws import FFN_WIDTH, HEADS, LAYERS, WIDTH, Outputs, passed
from same_weights.stacks import FUTURE, MEMORY
from torch import Tensor, nn

MASK = torch.zeros(FUTURE.shape).masked_fill(FUTURE, -torch.inf)
PARTS = {
    "embed_dim": WIDTH,
    "ffn_embed_dim": FFN_WIDTH,
    "attention_heads": HEADS,
    "layers": LAYERS,
    "normalize_before": False,
}


def options(**values: object) -> Namespace:
    sides = {f"{side}_{part}": value for side in ("encoder", "decoder") for part, value in PARTS.items()}
    off = dict.fromkeys(("dropout", "attention_dropout", "activation_dropout", "relu_dropout"), 0.0)
    return Namespace(**(sides | off | values))


class Layers(nn.Module):
    """Layers of one side, with names of parameters like ours."""

    def __init__(self, kind: Callable[[object], nn.Module], cfg: object, final_norm: nn.Module | None = None) -> None:
        super().__init__()
        self.layers = nn.ModuleList(kind(cfg) for _ in range(LAYERS))
        self.layer_norm = final_norm or nn.Identity()


def encode(encoder: Layers, x: Tensor) -> Tensor:
    x = x.transpose(0, 1)
    for layer in encoder.layers:
        x = layer(x, None)
    return encoder.layer_norm(x.transpose(0, 1))


def decode(decoder: Layers, x: Tensor) -> Tensor:
    x = x.transpose(0, 1)
    for layer in decoder.layers:
        x = layer(x, MEMORY.transpose(0, 1), None, self_attn_mask=MASK)[0]
    return decoder.layer_norm(x.transpose(0, 1))


def both(encoder: Layers, decoder: Layers) -> Outputs:
    return passed(lambda x: encode(encoder, x), "encoder") | passed(lambda x: decode(decoder, x), "decoder")
