"""Differential attention: the authors' module, whose positions turn nothing, with all positions in sight."""

import sys
from pathlib import Path
from types import ModuleType

import torch
from authors_layers.same_weights import LAYERS, SHAPE, WIDTH, Outputs, numbers, passed

from authors_code.layers import attention_layers
from authors_code.layers.attention_layers import HEADS, Stack
from authors_code.record import Source, load
from realformer_nmt.model.topologies.differential import SoftmaxDifference

FILE = "Diff-Transformer/multihead_diffattn.py"
SOURCE = Source("microsoft/unilm", "768a3c873f598bb9b4d4dfb9267b099e35f8fe56", FILE)
SEEN = torch.zeros(SHAPE[1], SHAPE[1])
VECTORS = ("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2")


def theirs(checkout: Path) -> Outputs:
    code = their_code(checkout / FILE)
    attention = code.MultiheadDiffAttn
    stack = Stack(
        lambda layer: attention(WIDTH, layer, HEADS // 2),
        lambda module, x: module(x, (), SEEN),
        {"subln.weight": "head_mixing.gain"},
    )
    for number, layer in enumerate(stack.layers):
        rows = numbers(f"layers.{number}.self_attn.head_mixing.vectors", len(VECTORS), WIDTH // HEADS)
        for name, row in zip(VECTORS, rows, strict=True):
            getattr(layer.self_attn, name).data.copy_(row)
    starts = torch.tensor([layer.self_attn.lambda_init for layer in stack.layers])
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


def ours() -> Outputs:
    starts = torch.tensor([SoftmaxDifference(WIDTH // HEADS, layer + 1).start for layer in range(LAYERS)])
    return {"starts": starts} | attention_layers.ours(biases=False, residual_topology="differential")
