"""DenseFormer: their whole model of three layers, whose branches are made linear, up to its head."""

import importlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from same_weights.draws import HEADS, LAYERS, SHAPE, WIDTH, Outputs, fill, numbers, passed
from torch import Tensor

from authors_code.layers.linear_layers import linear_branches
from authors_code.record import Source, stand_in

SOURCE = Source("epfml/DenseFormer", "c99a623bdb5f6611bf0d37e964c67ecbf15c3c19", "experiments/models/denseformer.py")
NAMES = {
    "transformer.ln_f": "layer_norm",
    "transformer.h": "layers",
    ".0.ln_1": ".self_attn_layer_norm",
    ".0.ln_2": ".final_layer_norm",
    ".0.attn": ".self_attn",
    ".0.mlp": ".ffn",
}


def run_code(checkout: Path) -> Outputs:
    model = their_model(checkout)
    initial = {f"initial_weights_{layer}": row.weight[0].detach().clone() for layer, row in enumerate(model.weights)}
    fill(model, NAMES)
    for layer, row in zip(model.weights, numbers("topology.weights", LAYERS, LAYERS + 1), strict=True):
        layer.weight.data[0] = row[: layer.in_features]
    return initial | passed(lambda x: run(model, x))


def their_model(checkout: Path) -> Any:
    models = sys.modules["models"] = ModuleType("models")
    models.__path__ = [str((checkout / SOURCE.file).parent)]
    stand_in("tiktoken").get_encoding = lambda _name: None
    config = SimpleNamespace(
        n_embd=WIDTH,
        n_head=HEADS,
        n_layer=LAYERS,
        increase_T_every=1,
        dilation_factor=1,
        bias=True,
        dropout=0.0,
        vocab_size=WIDTH,
        sequence_length=SHAPE[1],
        attention_window_length=None,
        lm_cache="none",
        positional_encoder="none",
    )
    model = importlib.import_module("models.denseformer").DenseFormer(config)
    linear_branches(block for (block,) in model.transformer.h)
    return model


def run(model: Any, x: Tensor) -> Tensor:
    """Return what their last norm makes of vectors, given in place of embedded words."""
    outputs: list[Tensor] = []
    model.transformer.wte.forward = lambda _words: x
    model.transformer.ln_f.register_forward_hook(lambda _norm, _inputs, output: outputs.append(output))
    model(torch.zeros(SHAPE[:2], dtype=torch.long))
    return outputs[0]
