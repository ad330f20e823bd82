"""HybridNorm: blocks of its OLMo with all attention visible, no positions and ReLU."""

import sys
from enum import Enum
from pathlib import Path
from types import ModuleType

import torch
from same_weights.draws import FFN_WIDTH, HEADS, LAYERS, SHAPE, WIDTH, Outputs, fill, passed
from torch import Tensor, nn

from authors_code.record import Source, stand_in

SOURCE = Source("BryceZhuo/HybridNorm", "f0dd60589c4cafcbd5496d60884d2745ff340805", "dense_model/olmo/model.py")
NAMES = {
    "att_proj": "self_attn.(q_proj|k_proj|v_proj)",
    "attn_out": "self_attn.out_proj",
    "ff_proj": "fc1",
    "ff_out": "fc2",
    "q_norm": "self_attn.head_norms.query",
    "k_norm": "self_attn.head_norms.key",
    "v_norm": "self_attn.head_norms.value",
    "ff_norm": "self_attn_layer_norm",
}
# as in their configuration MoE-1B-7B-HybridNorm
HYBRID = {"use_query_norm": True, "use_key_norm": True, "use_value_norm": True, "attention_layer_norm": False}
HYBRID |= {"attn_norm": False, "ffn_norm": True, "attn_residual_after_norm": False, "ffn_residual_after_norm": True}
SIZES = {"d_model": WIDTH, "n_heads": HEADS, "n_layers": LAYERS, "mlp_hidden_size": FFN_WIDTH}
KINDS = {"block_type": "sequential", "layer_norm_type": "rms", "activation_type": "relu", "rope": False, "alibi": False}
OFF = dict.fromkeys(("residual_dropout", "attention_dropout", "embedding_dropout"), 0.0)


class Words(str, Enum):
    """Base of the tables of words in their configuration."""


def run_code(checkout: Path) -> Outputs:
    sys.modules["olmo.util"] = util = ModuleType("olmo.util")  # the file itself is of clouds
    util.StrEnum = Words
    stand_in("olmo_data", "get_data_path", "is_data_file")
    sys.path.insert(0, str(checkout / "dense_model"))
    from olmo import model as code

    biases = {"include_bias": True, "bias_for_layer_norm": False, "attention_layer_norm_with_affine": True}
    config = code.ModelConfig(**SIZES, **HYBRID, **KINDS, **OFF, **biases, init_device="cpu")
    encoder = nn.Module()
    encoder.layers = nn.ModuleList(code.OLMoBlock.build(layer, config, code.BufferCache()) for layer in range(LAYERS))
    encoder.layer_norm = code.RMSLayerNorm(config, size=WIDTH)
    fill(encoder, NAMES)

    def encode(x: Tensor) -> Tensor:
        for layer in encoder.layers:
            x, _ = layer(x, attention_bias=torch.zeros(1, 1, SHAPE[1], SHAPE[1]))
        return encoder.layer_norm(x)

    return passed(encode)
