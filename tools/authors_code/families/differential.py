"""Differential attention: the authors' module, whose positions turn nothing, with all positions in sight."""

import sys
from collections import OrderedDict
from pathlib import Path
from types import ModuleType

import torch
from same_weights.draws import FFN_WIDTH, LAYERS, SHAPE, WIDTH, Outputs, fill, numbers, passed
from same_weights.families import DIFFERENTIAL_HEADS as HEADS
from torch import Tensor, nn

from authors_code.record import Source, load

FILE = "Diff-Transformer/multihead_diffattn.py"
SOURCE = Source("microsoft/unilm", "768a3c873f598bb9b4d4dfb9267b099e35f8fe56", FILE)
SEEN = torch.zeros(SHAPE[1], SHAPE[1])
VECTORS = ("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2")


class Layer(nn.Module):
    """Layer around their attention, whose feed-forward block, norms and names are ours."""

    def __init__(self, attention: nn.Module) -> None:
        super().__init__()
        self.self_attn = attention
        self.self_attn_layer_norm, self.final_layer_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.fc1, self.fc2 = nn.Linear(WIDTH, FFN_WIDTH), nn.Linear(FFN_WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.self_attn(self.self_attn_layer_norm(x), (), SEEN)
        return x + self.fc2(torch.relu(self.fc1(self.final_layer_norm(x))))


def run_code(checkout: Path) -> Outputs:
    attention = their_code(checkout / FILE).MultiheadDiffAttn
    layers = nn.Sequential(*(Layer(attention(WIDTH, layer, HEADS // 2)) for layer in range(LAYERS)))
    stack = nn.Sequential(OrderedDict(layers=layers, layer_norm=nn.LayerNorm(WIDTH)))
    fill(stack, {"subln.weight": "head_mixing.gain"})
    for number, layer in enumerate(layers):
        rows = numbers(f"layers.{number}.self_attn.head_mixing.vectors", len(VECTORS), WIDTH // HEADS)
        for name, row in zip(VECTORS, rows, strict=True):
            getattr(layer.self_attn, name).data.copy_(row)
    starts = torch.tensor([layer.self_attn.lambda_init for layer in layers])
    return {"starts": starts} | passed(stack, "encoder")


def their_code(file: Path) -> ModuleType:
    """Import their file, without a kernel for GPUs, and with positions that turn nothing."""
    rotary = ModuleType("kernel.rotary")
    rotary.apply_rotary_emb = lambda x, **_options: x
    flash = ModuleType("flash_attn")
    flash.flash_attn_func = None
    sys.modules |= {"kernel": ModuleType("kernel"), "kernel.rotary": rotary, "flash_attn": flash}
    sys.path.insert(0, str(file.parent))
    return load(file)
