"""ScaleNorm: Pre-LN encoder and decoder."""

from pathlib import Path
from types import SimpleNamespace

from same_weights.draws import FFN_WIDTH, HEADS, LAYERS, WIDTH, Outputs, fill, passed
from same_weights.stacks import FUTURE, MEMORY

from authors_code.record import Source, load

SOURCE = Source("tnq177/transformers_without_tears", "c2dfaaa93c2437a75f08b52de88b1132f78e7cad", "layers.py")
ATTENTION = {"weights": "(q_proj|k_proj|v_proj|out_proj).weight", "biases": "(q_proj|k_proj|v_proj|out_proj).bias"}


def run_code(checkout: Path) -> Outputs:
    code, sizes = load(checkout / SOURCE.file), {"embed_dim": WIDTH, "num_heads": HEADS, "ff_dim": FFN_WIDTH}
    off = {"dropout": 0.0, "att_dropout": 0.0, "ff_dropout": 0.0}
    both = {"num_enc_layers": LAYERS, "num_dec_layers": LAYERS, "use_bias": True, "pre_act": True, "scnorm": True}
    args = SimpleNamespace(**sizes, **off, **both)
    encoder, decoder = code.Encoder(args), code.Decoder(args)
    initial = {"initial_length": encoder.scales[0].scale.detach().clone().view(1)}
    fill(encoder, names("self_attn", "final"))
    fill(decoder, names("self_attn", "encoder_attn", "final"))
    return (
        initial
        | passed(lambda x: encoder(x, None), "encoder")
        | passed(lambda x: decoder(x, FUTURE, MEMORY, None), "decoder")
    )


def names(*sublayers: str) -> dict[str, str]:
    """Return ours by theirs, which number the sub-layers of a kind, and all norms."""
    our_names = {f"scales.{len(sublayers) * LAYERS}.": "layer_norm."}
    for layer in range(LAYERS):
        for kind, new in {"cross_atts": "encoder_attn.", "atts": "self_attn.", "ffs": ""}.items():
            our_names[f"{kind}.{layer}."] = f"layers.{layer}.{new}"
        for number, sublayer in enumerate(sublayers):
            our_names[f"scales.{len(sublayers) * layer + number}."] = f"layers.{layer}.{sublayer}_layer_norm."
    return our_names | {"in_proj": "fc1", "out_proj": "fc2", **ATTENTION, ".scale": ".weight"}
