"""The table of architectures against what the papers and stock fairseq say, and through fairseq's own parser."""

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import pytest
from fairseq import options
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.models.transformer.transformer_legacy import transformer_iwslt_de_en, transformer_wmt_en_de
from omegaconf import OmegaConf
from programs import commands
from programs.program import REPOSITORY

from realformer_nmt.model.models.model import TranslationModel
from realformer_nmt.model.presets import FAMILIES, PRESETS, SIZES

NAMED_BY_THE_PAPERS = {  # the others are named by tests/helpers/same_weights, beside their authors' code
    "post_ln": ("post", "none", "dot", "none"),
    "pre_ln": ("pre", "none", "dot", "none"),
    "realformer": ("post", "admin", "dot", "mean"),
    "realformer_sum": ("post", "admin", "dot", "sum"),
    "realformer_post_ln": ("post", "none", "dot", "mean"),
    **{
        f"synthesizer_{source}": ("post", "none", source, "none")
        for source in (
            *("dense", "dense_per_head", "random", "fixed_random"),
            *("factorised_dense", "factorised_random"),
        )
    },
    "synthesizer_random_vanilla": ("post", "none", "random+dot", "none"),
    "synthesizer_dense_vanilla": ("post", "none", "dense+dot", "none"),
    "block_attn_res": ("block_attn_res", "none", "dot", "none"),
    "keel": ("keel", "keel", "dot", "none"),
    "laurel": ("pre", "laurel", "dot", "none"),
    "span_norm": ("span_norm", "none", "dot", "none"),
    "talking_heads": ("pre", "none", "dot", "none", "talking"),
}


def parsed(*arguments: str, task: str = "translation") -> Namespace:
    parser = options.get_training_parser(task)
    return options.parse_args_and_arch(parser, ["data", *arguments])


@pytest.mark.parametrize("family", NAMED_BY_THE_PAPERS)
def test_families_are_those_of_the_papers(family: str) -> None:
    assert tuple(FAMILIES[family].values()) == NAMED_BY_THE_PAPERS[family]


def test_every_family_comes_in_every_size_and_is_an_arch() -> None:
    assert {f"{family}_{size}" for family in FAMILIES for size in SIZES} | set(FAMILIES) == set(PRESETS)
    assert all(ARCH_MODEL_REGISTRY[arch] is TranslationModel for arch in PRESETS)


@pytest.mark.parametrize(
    ("size", "stock"), [("wmt_en_de", transformer_wmt_en_de), ("iwslt_de_en", transformer_iwslt_de_en)]
)
def test_sizes_are_stock_fairseqs(size: str, stock: Callable[[Namespace], None]) -> None:
    args = Namespace()
    stock(args)
    for option, value in SIZES[size].items():
        if "dropout" not in option:
            assert getattr(args, option) == value, option


@pytest.mark.parametrize(
    ("size", "layers"),
    [("wmt_en_de_12l", (12, 12)), ("wmt_en_de_18l", (18, 18)), ("wmt_en_fr", (6, 6)), ("wmt_en_fr_60l_12l", (60, 12))],
)
def test_depths_and_dropouts_of_the_papers(size: str, layers: tuple[int, int]) -> None:
    args = parsed("--arch", f"realformer_{size}")
    assert (args.encoder_layers, args.decoder_layers) == layers
    assert (args.dropout, args.attention_dropout, args.activation_dropout) == (0.1, 0.1, 0.1)
    assert (args.encoder_embed_dim, args.decoder_ffn_embed_dim, args.decoder_attention_heads) == (512, 2048, 8)


def test_what_the_user_passes_goes_before_the_preset() -> None:
    args = parsed(
        "--arch", "realformer_wmt_en_de_18l", "--dropout", "0.2", "--encoder-layers", "3", "--score-carry", "sum"
    )
    assert (args.dropout, args.encoder_layers, args.score_carry) == (0.2, 3, "sum")
    assert (args.decoder_layers, args.residual_scaling) == (18, "admin")


def test_a_masked_model_takes_the_options_of_the_package_too() -> None:
    flags = ("--score-carry", "sum", "--encoder-window", "7")
    args = parsed("--arch", "realformer_etc_tiny", *flags, task="masked_lm")
    assert (args.score_carry, args.encoder_window, args.encoder_attention_pattern) == ("sum", 7, "global_local")
    assert (args.residual_scaling, args.max_positions) == ("admin", 4096)


def test_a_bare_family_takes_every_size_from_the_flags() -> None:
    args = parsed("--arch", "resi_dual", "--encoder-layers", "9", "--relu-dropout", "0.3")
    assert (args.residual_topology, args.encoder_layers, args.activation_dropout) == ("dual", 9, 0.3)
    assert not hasattr(args, "decoder_layers")  # filled in from the configuration's default


def test_hydra_configurations_take_presets_too() -> None:
    from fairseq.models import ARCH_CONFIG_REGISTRY

    cfg = OmegaConf.create({"_name": "realformer_wmt_en_de_18l", "dropout": 0.2})
    ARCH_CONFIG_REGISTRY["realformer_wmt_en_de_18l"](cfg)
    assert (cfg.dropout, cfg.encoder_layers, cfg.score_carry) == (0.2, 18, "mean")


THEIRS = """
from fairseq.models import register_model
from fairseq.models.transformer import TransformerConfig, TransformerModelBase

@register_model("resi_dual", dataclass=TransformerConfig)
class ResiDual(TransformerModelBase):
    pass
"""


@pytest.mark.parametrize("order", [("theirs", "realformer_nmt"), ("realformer_nmt", "theirs")], ids="-".join)
def test_another_plug_in_with_our_arch_is_an_error_in_either_order(order: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "theirs.py").write_text(THEIRS)
    begin = f"import fairseq\nimport {order[0]}\n"
    program = f"{begin}try:\n    import {order[1]}\nexcept ValueError as error:\n    print('!', error)"
    python = commands.python_of_forks()  # which has imported fairseq alone
    done = commands.run([python, "-c", program], folder=tmp_path, environment={"PYTHONPATH": str(REPOSITORY)})
    assert "! Cannot register duplicate model architecture (resi_dual)" in done.stdout
