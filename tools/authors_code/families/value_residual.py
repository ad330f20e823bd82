"""Value residual learning: layers of the authors' ResFormer, whose positions turn nothing."""

from pathlib import Path
from types import SimpleNamespace

from authors_layers.same_weights import LAYERS, Outputs, passed
from torch import Tensor, nn

from authors_code.layers import llama_layers
from authors_code.record import Source

FILE = "src/modeling/modeling_llama_resformer.py"
SOURCE = Source("Zcchill/Value-Residual-Learning", "95652f64aba7db6c095f4e92eafb9e76e6ed9e02", FILE)


def theirs(checkout: Path) -> Outputs:
    code = llama_layers.code(checkout / FILE)
    config = SimpleNamespace(**vars(llama_layers.CONFIG), attention_bias=True)
    layers = [code.LlamaDecoderLayer(config, layer) for layer in range(LAYERS)]
    return passed(llama_layers.TheirStack(layers, run), "encoder")


def run(layers: nn.ModuleList, x: Tensor) -> Tensor:
    values: list[Tensor] = []
    for layer in layers:
        (x,), values = layer(x, position_embeddings=llama_layers.UNTURNED, formal_layer_values=values)
    return x


def ours() -> Outputs:
    return llama_layers.ours(residual_topology="pre", score_carry="first_values")
