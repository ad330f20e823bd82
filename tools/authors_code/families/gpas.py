"""GPAS: Pre-LN layers with linear branches; the gradient shows where the stream is detached."""

from pathlib import Path

from authors_layers.linear_stack import LinearStack
from authors_layers.same_weights import LAYERS, Outputs, fill, numbers, passed

from authors_code.layers.linear_llama import FILE, PRE, LinearLlama, code
from authors_code.record import Source

SOURCE = Source("dandingsky/GPAS", "31980688f4cbb1b0cff59bca9077e6fc52dab3f0", FILE)


def theirs(checkout: Path) -> Outputs:
    llama = fill(LinearLlama(code(checkout), "pre_gpas"), PRE)
    for layer, gate in zip(llama.layers, numbers("topology.gates", LAYERS), strict=True):
        layer.gpas_block.gate.data.fill_(gate)
    return passed(llama)


def ours() -> Outputs:
    return passed(LinearStack("gpas"))
