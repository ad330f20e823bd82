"""Attention residuals, the full form and the one by blocks: the laboratory's layers with linear branches.

The kernel, which norms what it has read, is replaced by the library's plain operations.
"""

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

from same_weights.draws import LAYERS, WIDTH, Outputs, fill, passed
from torch import Tensor, nn
from torch.nn.functional import rms_norm

from authors_code.layers.linear_llama import LinearAttention
from authors_code.record import Source, load, stand_in_imports

FILE = "fla/models/transformer/modeling_transformer.py"
SOURCE = Source("fla-org/flash-linear-attention", "bc3b101dcb713ddc5bd8924b66754eb68b5ccf89", FILE)
OFF = dict.fromkeys(("use_cache", "output_attentions", "output_hidden_states", "return_dict"), False)
NAMES = {
    "attn_norm": "self_attn_layer_norm.input_norm",
    "mlp_norm": "final_layer_norm.input_norm",
    "attn_res": "self_attn_layer_norm.res",
    "mlp_res": "final_layer_norm.res",
    "res_norm.weight": "key_gain",
    "res_proj.weight": "query",
    ".attn.": ".self_attn.",
    "mlp": "ffn",
}


class TheirStack(nn.Module):
    """Their layers and their last read, by the names of ours."""

    def __init__(self, code: Any, block_size: int) -> None:
        super().__init__()
        config = Mock(hidden_size=WIDTH, norm_eps=1e-5, fuse_norm=False, attnres_block_size=block_size)
        self.layers = nn.ModuleList(code.TransformerBlock(config, layer) for layer in range(LAYERS))
        for layer in self.layers:
            layer.attn, layer.mlp = LinearAttention(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        norms = {name: nn.RMSNorm(WIDTH, eps=1e-5) for name in ("input_norm", "res_norm")}
        self.layer_norm = nn.ModuleDict(norms | {"res_proj": nn.Linear(WIDTH, 1, bias=False)})
        self.run = code.TransformerModel.forward

    def forward(self, x: Tensor) -> Tensor:
        model = SimpleNamespace(layers=self.layers, norm=self.layer_norm["input_norm"], config=Mock(), use_attnres=True)
        vars(model).update(self.layer_norm)
        output: Tensor = self.run(model, inputs_embeds=x, **OFF)[0]
        return output


def run_code(checkout: Path, block_size: int = 1) -> Outputs:
    stand_in_imports(checkout / FILE, "fla")
    code, naive = load(checkout / FILE), load(checkout / "fla/ops/attnres/naive.py", "naive").naive_attnres

    def attend(output_rms_weight: Tensor, rms_eps: float, **options: Any) -> Tensor:
        return rms_norm(naive(rms_eps=rms_eps, **options), (WIDTH,), output_rms_weight, rms_eps)

    code.fused_attnres = attend
    return passed(fill(TheirStack(code, block_size), NAMES))
