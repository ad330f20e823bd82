"""Layers of repositories that change one file of transformers' LLaMA, with their branches made linear."""

import os
import sys
from pathlib import Path
from types import ModuleType

from same_weights.draws import FFN_WIDTH, HEADS, LAYERS, WIDTH
from torch import Tensor, nn
from transformers import LlamaConfig

from authors_code.record import load

FILE = "peft_pretraining/modeling_llama.py"
PRE = {"input_layernorm": "self_attn_layer_norm", "post_attention_layernorm": "final_layer_norm", "mlp": "ffn"}
SANDWICH = {
    "input_layernorm": "self_attn_layer_norm.before",
    "post_attention_layernorm": "self_attn_layer_norm.after",
    "pre_feedforward_layernorm": "final_layer_norm.before",
    "post_feedforward_layernorm": "final_layer_norm.after",
    "mlp": "ffn",
}


class LinearAttention(nn.Linear):
    def forward(self, hidden_states: Tensor, **_options: object) -> tuple[Tensor, None, None]:
        return super().forward(hidden_states), None, None


def code(checkout: Path) -> ModuleType:
    sys.path.insert(0, str(checkout))  # it may import what stands beside it
    return load(checkout / FILE)


class LinearLlama(nn.Module):
    """Their layers, which read the kind of norms from the environment, and their final norm."""

    def __init__(self, code: ModuleType, norm_type: str) -> None:
        super().__init__()
        os.environ["NORM_TYPE"] = norm_type
        config = LlamaConfig(
            hidden_size=WIDTH,
            intermediate_size=FFN_WIDTH,
            num_attention_heads=HEADS,
            num_hidden_layers=LAYERS,
            rms_norm_eps=1e-5,
        )
        self.layers = nn.ModuleList(code.LlamaDecoderLayer(config, layer) for layer in range(LAYERS))
        for layer in self.layers:
            layer.self_attn = LinearAttention(WIDTH, WIDTH, bias=False)
            layer.mlp = nn.Linear(WIDTH, WIDTH, bias=False)
        self.layer_norm = code.LlamaRMSNorm(WIDTH, eps=1e-5)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            (x,) = layer(x)
        return self.layer_norm(x)
