"""GPAS: Pre-LN layers with linear branches; the gradient shows where the stream is detached."""

from pathlib import Path

from same_weights.draws import LAYERS, Outputs, fill, numbers, passed

from authors_code.layers.linear_llama import FILE, PRE, LinearLlama, code
from authors_code.record import Source

SOURCE = Source("dandingsky/GPAS", "31980688f4cbb1b0cff59bca9077e6fc52dab3f0", FILE)


def run_code(checkout: Path) -> Outputs:
    llama = fill(LinearLlama(code(checkout), "pre_gpas"), PRE)
    for layer, gate in zip(llama.layers, numbers("topology.gates", LAYERS), strict=True):
        layer.gpas_block.gate.data.fill_(gate)
    return passed(llama)
