"""The table of architectures: a family names the four parts, a size the number of layers and their widths."""

from collections.abc import Callable
from typing import Any, NamedTuple

from realformer_nmt.model.part_names import PART_NAMES

Preset = dict[str, str | int | float]


def family(
    topology: str, scaling: str, source: str, carry: str, norm: str | None = None, heads: str | None = None
) -> Preset:
    """Return the options of a family: its four parts, and its norm and heads unless they are the default."""
    parts: Preset = dict(zip(PART_NAMES, (topology, scaling, source, carry), strict=True))
    return parts | {name: value for name, value in (("norm", norm), ("heads", heads)) if value}


FAMILIES_BY_IDEA: dict[str, dict[str, Preset]] = {
    "norm": {  # where it stands, and which one
        "post_ln": family("post", "none", "dot", "none"),
        "pre_ln": family("pre", "none", "dot", "none"),
        "resi_dual": family("dual", "none", "dot", "none"),
        "b2t": family("b2t", "b2t", "dot", "none"),
        "dyt": family("pre", "none", "dot", "none", norm="dyt"),
        "hybrid_norm": family("hybrid_norm", "none", "dot", "none", norm="rms"),
        "keel": family("keel", "keel", "dot", "none"),
        "layernorm_scaling": family("layernorm_scaling", "none", "dot", "none"),
        "mix_ln": family("mix_ln", "none", "dot", "none"),
        "norm_former": family("norm_former", "none", "dot", "none"),
        "peri_ln": family("peri", "none", "dot", "none"),
        "res_post": family("res_post", "none", "dot", "none"),
        "scale_norm": family("pre", "none", "dot", "none", norm="scale"),
        "siamese_norm": family("siamese", "none", "dot", "none"),
        "span_norm": family("span_norm", "none", "dot", "none"),
        "sub_ln": family("sub_ln", "sub_ln", "dot", "none"),
        "t_fixup": family("no_norm", "t_fixup", "dot", "none"),
    },
    "branch": {  # how it is weighed, and the shortcut beside it
        "admin": family("post", "admin", "dot", "none"),
        "deepnorm": family("post", "deepnorm", "dot", "none"),
        "delta": family("delta", "none", "dot", "none", norm="rms"),
        "ds_init": family("post", "ds_init", "dot", "none"),
        "gpas": family("gpas", "none", "dot", "none"),
        "laurel": family("pre", "laurel", "dot", "none"),
        "layer_scale": family("pre", "layer_scale", "dot", "none"),
        "orthogonal": family("pre", "orthogonal", "dot", "none"),
        "pro_res": family("pre", "pro_res", "dot", "none"),
        "rezero": family("rezero", "none", "dot", "none"),
    },
    "carried": {  # from layer to layer
        "realformer": family("post", "admin", "dot", "mean"),
        "realformer_sum": family("post", "admin", "dot", "sum"),
        "realformer_post_ln": family("post", "none", "dot", "mean"),
        "attn_res": family("attn_res", "none", "dot", "none"),
        "block_attn_res": family("block_attn_res", "none", "dot", "none"),
        "dense_former": family("dense_former", "none", "dot", "none"),
        "dlcl_post": family("dlcl_post", "none", "dot", "none"),
        "dlcl_pre": family("dlcl_pre", "none", "dot", "none"),
        "hyper": family("hyper", "none", "dot", "none"),
        "hyper_static": family("hyper_static", "none", "dot", "none"),
        "lazy": family("pre", "none", "dot", "lazy"),
        "mhc": family("mhc", "none", "dot", "none"),
        "mhc_lite": family("mhc_lite", "none", "dot", "none"),
        "moda": family("post", "admin", "dot", "moda"),
        "rk2": family("rk2", "none", "dot", "none"),
        "value_residual": family("pre", "none", "dot", "first_values"),
    },
    "attention": {  # its scores and its heads
        "synthesizer_dense": family("post", "none", "dense", "none"),
        "synthesizer_dense_per_head": family("post", "none", "dense_per_head", "none"),
        "synthesizer_random": family("post", "none", "random", "none"),
        "synthesizer_fixed_random": family("post", "none", "fixed_random", "none"),
        "synthesizer_factorised_dense": family("post", "none", "factorised_dense", "none"),
        "synthesizer_factorised_random": family("post", "none", "factorised_random", "none"),
        "synthesizer_random_vanilla": family("post", "none", "random+dot", "none"),
        "synthesizer_dense_vanilla": family("post", "none", "dense+dot", "none"),
        "differential": family("pre", "none", "dot", "none", heads="differential"),
        "gated_attention": family("pre", "none", "dot", "none", heads="gated"),
        "qk_norm": family("pre", "none", "qk_norm", "none"),
        "talking_heads": family("pre", "none", "dot", "none", heads="talking"),
    },
}
FAMILIES: dict[str, Preset] = {name: row for rows in FAMILIES_BY_IDEA.values() for name, row in rows.items()}


def _size(encoder_layers: int, decoder_layers: int, width: int, ffn: int, heads: int, dropouts: list[float]) -> Preset:
    shape: Preset = {"encoder_layers": encoder_layers, "decoder_layers": decoder_layers}
    for part, number in (("embed_dim", width), ("ffn_embed_dim", ffn), ("attention_heads", heads)):
        shape |= {f"encoder_{part}": number, f"decoder_{part}": number}
    return shape | dict(zip(["dropout", "attention_dropout", "activation_dropout"], dropouts, strict=True))


WMT = [0.1, 0.1, 0.1]  # dropout, attention dropout, activation dropout: RealFormer and ADMIN, both language pairs
SIZES: dict[str, Preset] = {
    "tiny": _size(2, 2, 64, 128, 4, [0.1, 0.0, 0.0]),
    "iwslt_de_en": _size(6, 6, 512, 1024, 4, [0.3, 0.0, 0.0]),
    "wmt_en_de": _size(6, 6, 512, 2048, 8, WMT),
    "wmt_en_de_12l": _size(12, 12, 512, 2048, 8, WMT),
    "wmt_en_de_18l": _size(18, 18, 512, 2048, 8, WMT),
    "wmt_en_fr": _size(6, 6, 512, 2048, 8, WMT),
    "wmt_en_fr_60l_12l": _size(60, 12, 512, 2048, 8, WMT),
}


# Models of one side: layers, width, heads, width of the feed-forward blocks; from small on as He et al. (2021), table 1
ONE_SIDE_SIZES: dict[str, tuple[int, int, int, int]] = {
    "tiny": (2, 64, 4, 128),
    "small": (4, 512, 8, 2048),
    "base": (12, 768, 12, 3072),
    "large": (24, 1024, 16, 4096),
    "xlarge": (36, 1536, 24, 6144),
}


class Kind(NamedTuple):
    """Kind of models with one side."""

    model: str  # its name in fairseq
    side: str
    embedding: str  # the name of its weights
    options: Preset
    families: Preset  # the kind has the families with these values


BERT: Preset = {
    "activation_fn": "gelu",
    "attention_dropout": 0.1,
    **dict.fromkeys(("layernorm_embedding", "no_scale_embedding", "encoder_learned_pos"), True),
}
# The first words of a text stand for ETC's global input; its window is that of Ainslie et al. (2020)
ETC: Preset = {
    **BERT,
    "encoder_attention_pattern": "global_local",
    "encoder_window": 84,
    "encoder_global_tokens": 128,
    "max_positions": 4096,
}
MASKED = Kind("realformer_nmt_bert", "encoder", "encoder.sentence_encoder.embed_tokens.weight", BERT, {})
KINDS: dict[str, Kind] = {
    "lm": Kind("realformer_nmt_lm", "decoder", "decoder.embed_tokens.weight", {}, {}),
    "bert": MASKED,
    "etc": MASKED._replace(options=ETC, families={"score_source": "dot"}),
}


def of_kind(name: str, families: dict[str, Preset]) -> dict[str, Preset]:
    """Return each family of a kind as FAMILY_KIND, of size base, and as FAMILY_KIND_SIZE."""
    kind, parts = KINDS[name], ("layers", "embed_dim", "attention_heads", "ffn_embed_dim")
    sizes = {
        size: {f"{kind.side}_{part}": number for part, number in zip(parts, numbers, strict=True)}
        for size, numbers in ONE_SIDE_SIZES.items()
    }
    endings = {name: sizes["base"], **{f"{name}_{size}": shape for size, shape in sizes.items()}}
    return {
        f"{family}_{ending}": preset | kind.options | shape
        for family, preset in families.items()
        if kind.families.items() <= preset.items()
        for ending, shape in endings.items()
    }


def in_every_size(families: dict[str, Preset]) -> dict[str, Preset]:
    """Return each family under its name, without a size, and as NAME_SIZE."""
    sized = {f"{family}_{size}": parts | SIZES[size] for family, parts in families.items() for size in SIZES}
    return families | sized


PRESETS: dict[str, Preset] = in_every_size(FAMILIES)
ONE_SIDE_PRESETS: dict[str, dict[str, Preset]] = {name: of_kind(name, FAMILIES) for name in KINDS}


def find(arch: str | None) -> Preset | None:
    """Return the preset of an --arch, if it is one of this package."""
    return next((table[arch] for table in (PRESETS, *ONE_SIDE_PRESETS.values()) if arch in table), None)


def kind_of(arch: str | None) -> str | None:
    """Return the kind of an --arch, or of a model, with one side; None for any other."""
    return next((name for name, kind in KINDS.items() if arch == kind.model or arch in ONE_SIDE_PRESETS[name]), None)


def register(model: str, presets: dict[str, Preset], prefix: str = "") -> None:
    """Make every preset an --arch; the user's options override the preset."""
    from fairseq import models  # here, because importing it takes seconds

    for arch, preset in presets.items():
        models.register_model_architecture(model, prefix + arch)(filler(preset))


def filler(preset: Preset) -> Callable[[Any], None]:
    def fill(cfg: Any) -> None:
        for option, value in preset.items():
            if option not in cfg:
                setattr(cfg, option, value)

    return fill
