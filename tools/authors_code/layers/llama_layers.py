"""Layers of repositories that change a file of an older transformers."""

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import torch
from same_weights.draws import FFN_WIDTH, HEADS, LAYERS, SHAPE, WIDTH, fill
from torch import Tensor, nn
from transformers import modeling_rope_utils

NAMES = {
    "input_layernorm": "self_attn_layer_norm",
    "post_attention_layernorm": "final_layer_norm",
    "o_proj": "out_proj",
    ".mlp.": ".",
}
UNTURNED = torch.ones(SHAPE[0], SHAPE[1], WIDTH // HEADS), torch.zeros(SHAPE[0], SHAPE[1], WIDTH // HEADS)
CONFIG = SimpleNamespace(
    hidden_size=WIDTH,
    intermediate_size=FFN_WIDTH,
    num_attention_heads=HEADS,
    num_key_value_heads=HEADS,
    num_hidden_layers=LAYERS,
    head_dim=WIDTH // HEADS,
    rms_norm_eps=1e-5,
    hidden_act="silu",
    max_position_embeddings=SHAPE[1],
    rope_theta=1e4,
    rope_scaling=None,
    attention_dropout=0.0,
    sliding_window=None,
    pretraining_tp=1,
    mlp_bias=False,
    _attn_implementation="eager",
)


class FeedForward(nn.Module):
    """Feed-forward block of ours, in place of theirs with gates."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(WIDTH, FFN_WIDTH), nn.Linear(FFN_WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(torch.relu(self.fc1(x)))


def code(file: Path) -> ModuleType:
    """Import a file of a package, with stubs for what transformers no longer has."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("transformers"):
            module = importlib.import_module(str(node.module))
            for name in {alias.name for alias in node.names} - set(dir(module)):
                setattr(module, name, lambda *_, **_options: lambda decorated: decorated)
    modeling_rope_utils.ROPE_INIT_FUNCTIONS["default"] = lambda *_, **_options: (torch.ones(1), 1.0)
    package = sys.modules["authors_package"] = ModuleType("authors_package")
    package.__path__ = [str(file.parent)]
    return importlib.import_module(f"authors_package.{file.stem}")


class TheirStack(nn.Module):
    """Their layers, with our feed-forward blocks, and a last norm."""

    def __init__(self, layers: list[nn.Module], run: Callable[[nn.ModuleList, Tensor], Tensor]) -> None:
        super().__init__()
        self.layers, self.layer_norm, self.run = nn.ModuleList(layers), nn.RMSNorm(WIDTH, eps=1e-5), run
        for layer in layers:
            layer.mlp = FeedForward()
        fill(self, NAMES)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer_norm(self.run(self.layers, x))
