"""Mix-LN: three layers with linear branches, the first of them Post-LN."""

import os
from pathlib import Path

from same_weights.draws import Outputs, fill, passed

from authors_code.layers.linear_llama import FILE, PRE, LinearLlama, code
from authors_code.record import Source

SOURCE = Source("pixeli99/MixLN", "ff458269dff837f1900025fb7cc864b404b9c7e6", FILE)
POST = {
    "layers.0.post_attention_layernorm": "layers.0.self_attn_layer_norm",
    "post_feedforward_layernorm": "final_layer_norm",
}


def run_code(checkout: Path) -> Outputs:
    os.environ["POST_NUM"] = "1"
    return passed(fill(LinearLlama(code(checkout), "post_pre"), POST | PRE))
