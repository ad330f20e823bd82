"""Encoders and decoders of old fairseqs that authors have changed, run on vectors instead of words."""

import importlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from same_weights.draws import FFN_WIDTH, HEADS, LAYERS, WIDTH, Outputs, fill, passed
from same_weights.stacks import MEMORY
from torch import Tensor, nn

BASES = ("FairseqEncoder", "FairseqDecoder", "FairseqIncrementalDecoder")
ENCODER_NORMS = {"layer_norms.0": "self_attn_layer_norm", "layer_norms.1": "final_layer_norm"}
DECODER_NORMS = {
    "layer_norms.0": "self_attn_layer_norm",
    "layer_norms.1": "encoder_attn_layer_norm",
    "layer_norms.2": "final_layer_norm",
}


class Vectors(nn.Module):
    """Embedding that takes vectors for words, and whose transpose at the end of a decoder changes nothing."""

    embedding_dim, padding_idx, weight = WIDTH, 1, torch.eye(WIDTH)

    def forward(self, vectors: Tensor, *_: object, **_options: object) -> Tensor:
        return vectors


class NoPositions(nn.Module):
    def forward(self, *_: object, **_options: object) -> int:
        return 0


def install(checkout: Path) -> None:
    """Put a checkout's fairseq in the place of the installed one, without the models that it would import."""
    for name in [name for name in sys.modules if name.split(".")[0] == "fairseq"]:
        del sys.modules[name]
    for name in ("fairseq", "fairseq.models"):
        package = sys.modules[name] = ModuleType(name)
        package.__path__ = [str(checkout.joinpath(*name.split(".")))]
    for name in ("fairseq.data", "fairseq.options"):  # their files that new libraries break; no layer needs them
        sys.modules[name] = ModuleType(name)
    sys.modules["fairseq.data"].Dictionary = list
    for base, file in zip(BASES, ("encoder", "decoder", "incremental_decoder"), strict=True):
        setattr(package, base, getattr(importlib.import_module(f"fairseq.models.fairseq_{file}"), base))
    package.FairseqModel = package.FairseqLanguageModel = nn.Module
    package.register_model = package.register_model_architecture = lambda *_names: lambda registered: registered


def options(**changed: Any) -> SimpleNamespace:
    sizes = {"embed_dim": WIDTH, "ffn_embed_dim": FFN_WIDTH, "attention_heads": HEADS, "layers": LAYERS}
    sides = {f"{side}_{part}": size for side in ("encoder", "decoder") for part, size in sizes.items()}
    off = dict.fromkeys(("dropout", "attention_dropout", "relu_dropout"), 0.0)
    plain = {"encoder_learned_pos": False, "decoder_learned_pos": False, "share_decoder_input_output_embed": True}
    return SimpleNamespace(**(sides | off | plain | changed))


def prepared(side: Any, names: dict[str, str]) -> nn.Module:
    """Return a side filled, without positions, whose projections may be changed in place."""
    side.embed_scale, side.embed_positions = 1.0, NoPositions()
    for attention in (module for name, module in side.named_modules() if name.endswith("self_attn")):
        attention.in_proj_qkv = lambda query, joint=attention.in_proj_qkv: [part.clone() for part in joint(query)]
    return fill(side, names)


def encoded(encoder: nn.Module) -> Outputs:
    return passed(lambda x: encoder(x, None)["encoder_out"].transpose(0, 1), "encoder")


def decoded(decoder: nn.Module) -> Outputs:
    memory = {"encoder_out": MEMORY.transpose(0, 1), "encoder_padding_mask": None}
    return passed(lambda x: decoder(x, memory)[0], "decoder")
