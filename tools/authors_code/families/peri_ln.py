"""Peri-LN: the `sandwich` layers of GPAS's baselines with linear branches, which do not norm the embeddings."""

from pathlib import Path

from same_weights.draws import Outputs, fill, passed

from authors_code.layers.linear_llama import FILE, SANDWICH, LinearLlama, code
from authors_code.record import Source

SOURCE = Source("dandingsky/GPAS", "31980688f4cbb1b0cff59bca9077e6fc52dab3f0", FILE)


def run_code(checkout: Path) -> Outputs:
    return passed(fill(LinearLlama(code(checkout), "sandwich"), SANDWICH))
