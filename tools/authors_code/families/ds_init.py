"""DS-Init: the initial weights of its encoder and decoder, by a Python that has tensorflow.

Those of encoder-decoder attention are compared as factors of the first layer's: there q, k and v start from Xavier's
bound, and ours, as in all families, from that times 1 / sqrt(2).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import torch
from same_weights.draws import FFN_WIDTH, HEADS, LAYERS, WIDTH, Outputs
from same_weights.families import by_depth
from torch import Tensor

from authors_code.record import Source

SOURCE = Source("bzhangGo/zero", "d97e2c21b1c6d0467fe821223042247bf2b46bf9", "models/transformer.py")
SCRIPT = Path(__file__).parents[1] / "layers" / "zero_initial_weights.py"
OWN = {
    "self_attn.q_proj": "self_attention/dot_attention/qkv_map",
    "self_attn.out_proj": "self_attention/dot_attention/o_map",
    "fc1": "feed_forward/ffn_layer/enlarge",
    "fc2": "feed_forward/ffn_layer/output",
}
ACROSS = {f"encoder_attn.{part}_proj": f"cross_attention/dot_attention/{part[0]}_map" for part in ("q", "v", "out")}


def run_code(checkout: Path) -> Outputs:
    python = os.environ.get("TENSORFLOW_PYTHON", sys.executable)
    words = [python, SCRIPT, checkout, WIDTH, FFN_WIDTH, HEADS, LAYERS]
    printed = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True, check=True).stdout
    their_weights = json.loads(printed.splitlines()[-1])

    def initial(side: str, matrix: str) -> Tensor:
        return torch.tensor([their_weights[f"{side}/layer_{layer}/{matrix}/W_0_0:0"] for layer in range(LAYERS)])

    weights = {f"{side}_{name}": initial(side, there) for side in ("encoder", "decoder") for name, there in OWN.items()}
    return weights | by_depth({f"decoder_{name}": initial("decoder", there) for name, there in ACROSS.items()})
