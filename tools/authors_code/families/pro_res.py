"""ProRes: Pre-LN layers with linear branches before updates 1, 1500 and 4000, and how long each layer grows."""

import ast
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from same_weights.draws import LAYERS, Outputs, fill, passed
from same_weights.linear_stack import UPDATES

from authors_code.layers.linear_llama import FILE, PRE, LinearLlama, code
from authors_code.record import Source, load

SOURCE = Source("dandingsky/ProRes", "5253e0dea6cff62f69c8f7fe1cc3151ec572fab6", FILE)


def run_code(checkout: Path) -> Outputs:
    llama = fill(LinearLlama(code(checkout), "pre_prores"), PRE)
    growing = schedule(checkout / "torchrun_main.py")(1000 * LAYERS, LAYERS)
    outputs = {"growing": torch.tensor(growing)}
    for update in UPDATES:
        for layer, share in zip(llama.layers, np.clip(update / growing, 0.0, 1.0), strict=True):
            layer.alpha = share
        outputs |= passed(llama, f"update_{update}")
    return outputs


def schedule(file: Path) -> Callable[[int, int], np.ndarray]:
    """Return a function that stands within their main function, from a file of its own."""
    code = file.read_text()
    (function,) = [
        node
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.FunctionDef) and node.name == "get_layerwise_warmup_steps"
    ]
    lines = code.splitlines()[function.lineno - 1 : function.end_lineno]
    with tempfile.TemporaryDirectory() as folder:
        alone = Path(folder, "schedule.py")
        alone.write_text("import numpy as np\n" + textwrap.dedent("\n".join(lines)))
        return load(alone, "schedule").get_layerwise_warmup_steps
