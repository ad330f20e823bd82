"""LayerNorm-Scaling: layers with linear branches.

Their file makes the kind of norms lower-case and then looks for "LNS", so that every layer returns its input: what is
run is the part behind that.
"""

import os
from pathlib import Path
from types import SimpleNamespace

from same_weights.draws import Outputs, fill, passed

from authors_code.layers.linear_llama import FILE, PRE, LinearLlama, code
from authors_code.record import Source

SOURCE = Source("lmsdss/LayerNorm-Scaling", "3ac54dde961b04780b152bc8b38b71b2f8e1c16a", FILE)


class Kept(str):
    def lower(self) -> str:
        return self


def run_code(checkout: Path) -> Outputs:
    module = code(checkout)
    x, layer = object(), LinearLlama(module, "LNS").layers[0]
    assert layer(x) == (x,), "the file looks for its norms as it should by now: run it as it is"
    module.os = SimpleNamespace(getenv=lambda name, *default: Kept(os.getenv(name, *default)))
    return passed(fill(LinearLlama(module, "LNS"), PRE))
