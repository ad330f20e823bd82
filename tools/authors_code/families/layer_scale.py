"""LayerScale: layers of CaiT with linear branches."""

from pathlib import Path

from same_weights.draws import HEADS, LAYERS, WIDTH, Outputs, fill, passed
from torch import nn

from authors_code.layers.linear_layers import LinearLayers
from authors_code.record import Source, load, stand_in_imports

SOURCE = Source("facebookresearch/deit", "7e160fe43f0252d17191b71cbb5826254114ea5b", "cait_models.py")
NORMS = {"norm1": "self_attn_layer_norm", "norm2": "final_layer_norm", "attn.": "self_attn.", "mlp": "ffn"}


def run_code(checkout: Path) -> Outputs:
    stand_in_imports(checkout / SOURCE.file, "timm")
    kind = load(checkout / SOURCE.file).LayerScale_Block
    layers = [kind(WIDTH, HEADS, Mlp_block=lambda **_: nn.Identity()) for _ in range(LAYERS)]
    return passed(fill(LinearLayers(layers, nn.LayerNorm(WIDTH)), names()))


def names() -> dict[str, str]:
    gains = {
        f"layers.{layer}.gamma_{branch + 1}": f"shortcuts.{2 * layer + branch}.a"
        for layer in range(LAYERS)
        for branch in range(2)
    }
    return gains | NORMS
