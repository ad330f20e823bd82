"""ReZero: layers of its encoder and its decoder."""

from pathlib import Path

from same_weights.draws import FFN_WIDTH, HEADS, LAYERS, WIDTH, Outputs, fill, numbers, passed
from same_weights.stacks import FUTURE, MEMORY
from torch import Tensor, nn

from authors_code.record import Source, load

SOURCE = Source("majumderb/rezero", "e2c94a825c5564217e8cf4d75a28d59cab1d7029", "rezero/transformer/rztx.py")
NAMES = {"linear": "fc", "multihead_attn": "encoder_attn"}


def run_code(checkout: Path) -> Outputs:
    code = load(checkout / SOURCE.file)
    encoder, decoder = (layers(kind) for kind in (code.RZTXEncoderLayer, code.RZTXDecoderLayer))

    def encode(x: Tensor) -> Tensor:
        x = x.transpose(0, 1)
        for layer in encoder.layers:
            x = layer(x)
        return x.transpose(0, 1)

    def decode(x: Tensor) -> Tensor:
        x = x.transpose(0, 1)
        for layer in decoder.layers:
            x = layer(x, MEMORY.transpose(0, 1), tgt_mask=FUTURE)
        return x.transpose(0, 1)

    return passed(encode, "encoder") | passed(decode, "decoder")


def layers(kind: type[nn.Module]) -> nn.Module:
    module = nn.Module()
    module.layers = nn.ModuleList(kind(WIDTH, HEADS, FFN_WIDTH, dropout=0.0) for _ in range(LAYERS))
    fill(module, NAMES)
    for layer, weight in zip(module.layers, numbers("topology.weights", LAYERS), strict=True):
        layer.resweight.data.fill_(weight)
    return module
