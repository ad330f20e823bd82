"""QKNorm: Pre-LN encoder and decoder."""

from pathlib import Path
from types import SimpleNamespace

from same_weights.draws import FFN_WIDTH, HEADS, LAYERS, WIDTH, Outputs, fill, passed
from same_weights.families import LONGEST
from same_weights.stacks import FUTURE, MEMORY

from authors_code.families.scale_norm import names
from authors_code.record import Source, load

SOURCE = Source("CyndxAI/QKNorm", "c628cb5d21f1475ba95db779a175748ff9efe940", "QKNorm/layers.py")


def run_code(checkout: Path) -> Outputs:
    code, sizes = load(checkout / SOURCE.file), {"embed_dim": WIDTH, "num_heads": HEADS, "ff_dim": FFN_WIDTH}
    off = {"dropout": 0.0, "att_dropout": 0.0, "ff_dropout": 0.0}
    kind = {"use_bias": True, "pre_act": True, "scnorm": False, "mha_sup": True, "seq_len_threshold": LONGEST}
    args = SimpleNamespace(num_enc_layers=LAYERS, num_dec_layers=LAYERS, **sizes, **off, **kind)
    encoder, decoder = code.Encoder(args), code.Decoder(args)
    initial = {"initial_scale": encoder.atts[0].mha_scale.scale.detach().clone().view(1)}
    gain = {"mha_scale": "score_source"}, {"score_source.weight": "score_source.scale"}
    fill(encoder, gain[0] | names("self_attn", "final") | gain[1])
    fill(decoder, gain[0] | names("self_attn", "encoder_attn", "final") | gain[1])
    return (
        initial
        | passed(lambda x: encoder(x, None), "encoder")
        | passed(lambda x: decoder(x, FUTURE, MEMORY, None), "decoder")
    )
