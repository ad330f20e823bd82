"""SiameseNorm: layers of its DeiT with linear branches, and what follows the last of them."""

from pathlib import Path

from same_weights.draws import HEADS, LAYERS, SHAPE, WIDTH, Outputs, fill, passed
from torch import Tensor, nn

from authors_code.layers.linear_layers import linear_branches
from authors_code.record import Source, load, stand_in_imports

SOURCE = Source(
    "Qwen-Applications/SiameseNorm", "70efa00c6e37562e80c94efad2c5bc6533e6cf31", "deit-model-siamesenorm.py"
)
INNER = {"pre": "y", "input": "input"}


class Patches(nn.Module):
    """Embedding of a picture whose vectors are given; the first of them stands for the picture's class."""

    num_patches = SHAPE[1] - 1

    def __init__(self, **_options: object) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        return x[:, 1:]


def run_code(checkout: Path) -> Outputs:
    stand_in_imports(checkout / SOURCE.file, "timm")
    kind = load(checkout / SOURCE.file).VisionTransformer
    sizes = {"embed_dim": WIDTH, "depth": LAYERS, "num_heads": HEADS, "num_classes": 0}
    model = kind(**sizes, embed_layer=Patches, norm_layer=nn.LayerNorm)
    linear_branches(model.blocks)
    fill(model, names())
    model.pos_embed.data.zero_()
    del model.cls_token

    def run(x: Tensor) -> Tensor:
        model.cls_token, outputs = x[:, :1], []
        with model.final_norm.register_forward_hook(lambda _norm, _inputs, output: outputs.append(output)):
            model.forward_features(x)
        return outputs[0]

    return passed(run)


def names() -> dict[str, str]:
    """Return ours by theirs: they norm x as a sub-layer begins, and ours after the one before."""
    our_names = {"blocks.0.post_norm1": "topology.first_norm", "post_norm2": "self_attn_layer_norm.x"}
    for layer in range(1, LAYERS):
        our_names[f"blocks.{layer}.post_norm1"] = f"layers.{layer - 1}.final_layer_norm.x"
    for number, sublayer in ((1, "self_attn"), (2, "final")):
        our_names |= {f"{old}_norm{number}": f"{sublayer}_layer_norm.{new}" for old, new in INNER.items()}
    our_names |= {"pre_norm": f"layers.{LAYERS - 1}.final_layer_norm.x", "post_norm": "layer_norm.y"}
    return our_names | {"final_norm": "layer_norm.sum", "blocks": "layers", ".attn.": ".self_attn.", "mlp": "ffn"}
