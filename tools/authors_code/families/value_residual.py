"""Value residual learning: layers of the authors' ResFormer, whose positions turn nothing."""

from pathlib import Path
from types import SimpleNamespace

from same_weights.draws import LAYERS, Outputs, passed
from torch import Tensor, nn

from authors_code.layers import llama_layers
from authors_code.record import Source

FILE = "src/modeling/modeling_llama_resformer.py"
SOURCE = Source("Zcchill/Value-Residual-Learning", "95652f64aba7db6c095f4e92eafb9e76e6ed9e02", FILE)


def run_code(checkout: Path) -> Outputs:
    code = llama_layers.code(checkout / FILE)
    config = SimpleNamespace(**vars(llama_layers.CONFIG), attention_bias=True)
    layers = [code.LlamaDecoderLayer(config, layer) for layer in range(LAYERS)]
    return passed(llama_layers.TheirStack(layers, run), "encoder")


def run(layers: nn.ModuleList, x: Tensor) -> Tensor:
    values: list[Tensor] = []
    for layer in layers:
        (x,), values = layer(x, position_embeddings=llama_layers.UNTURNED, formal_layer_values=values)
    return x
