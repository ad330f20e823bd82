"""Deep delta learning: blocks with linear branches."""

from pathlib import Path
from types import SimpleNamespace

from same_weights.draws import LAYERS, Outputs, fill, passed

from authors_code.layers import llama_layers
from authors_code.layers.linear_layers import LinearLayers
from authors_code.record import Source

FILE = "model/DDL-vdim1-gpt-mha-rope.py"
SOURCE = Source("yifanzhang-pro/deep-delta-learning", "2b55f2511502ac91df5e595b94de9cfb8528bc23", FILE)
NAMES = {
    "ln_1": "self_attn_layer_norm.input",
    "ln_2": "final_layer_norm.input",
    "ddl_attn.": "self_attn_layer_norm.",
    "ddl_mlp": "final_layer_norm",
    "beta": "step",
    "v_proj": "value",
    ".attn.": ".self_attn.",
    ".mlp": ".ffn",
}


def run_code(checkout: Path) -> Outputs:
    code = llama_layers.code(checkout / FILE)
    config = SimpleNamespace(**vars(llama_layers.CONFIG), using_groupnorm=False)
    layers = LinearLayers([code.Block(config) for _ in range(LAYERS)], code.RMSNorm(config.hidden_size))
    return passed(fill(layers, NAMES))
