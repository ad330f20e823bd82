"""Title of a comparison whose grid has none: `Multi30k En-De: Pre-LN, ADMIN, RealFormer at 6 and 18 layers`."""

import re
from collections.abc import Sequence

SPELLINGS = {  # of names in code; any other name is written with spaces
    "post_ln": "Post-LN",
    "pre_ln": "Pre-LN",
    "peri_ln": "Peri-LN",
    "admin": "ADMIN",
    "attn_res": "Attention residuals",
    "b2t": "B2T",
    "deepnorm": "DeepNorm",
    "dense_former": "DenseFormer",
    "dlcl": "DLCL",
    "ds_init": "DS-Init",
    "dyt": "DyT",
    "gpas": "GPAS",
    "hybrid_norm": "HybridNorm",
    "hyper": "Hyper-connections",
    "iwslt14": "IWSLT14",
    "keel": "Keel",
    "layer_scale": "LayerScale",
    "layernorm_scaling": "LayerNorm Scaling",
    "mhc": "mHC",
    "mix_ln": "Mix-LN",
    "norm_former": "NormFormer",
    "pro_res": "ProRes",
    "qk_norm": "QKNorm",
    "realformer": "RealFormer",
    "res_post_norm": "Res-Post-Norm",  # README's, before the name that it begins with
    "res_post": "Res-Post-Norm",
    "resi_dual": "ResiDual",
    "rezero": "ReZero",
    "rk2": "RK2",
    "scale_norm": "ScaleNorm",
    "siamese_norm": "SiameseNorm",
    "sub_ln": "Sub-LN",
    "t_fixup": "T-Fixup",
    "wmt14": "WMT14",
}
MOST_NAMED = 6  # families


def default_title(corpus: str, languages: Sequence[str], families: Sequence[str], depths: Sequence[str]) -> str:
    """Return the corpus, the families and their depths as a title."""
    pair = "_".join(languages)
    text = spelled(corpus.removesuffix(f"_{pair}") if pair else corpus)
    direction = "-".join(language.capitalize() for language in languages)
    names = ", ".join(map(spelled, families)) if len(families) <= MOST_NAMED else f"{len(families)} families"
    return f"{' '.join(filter(None, (text, direction)))}: {names} at {layers(depths)}"


def spelled(name: str) -> str:
    """Return a name of code as papers write it."""
    for code, spelling in SPELLINGS.items():
        name = re.sub(rf"(?<![a-z0-9]){code}(?![a-z0-9])", spelling, name)
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:]


def layers(depths: Sequence[str]) -> str:
    """Return `6 and 18 layers`."""
    return f"{listed(depths)} {'layer' if list(depths) == ['1'] else 'layers'}"


def listed(words: Sequence[str]) -> str:
    """Return `a, b and c`."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
