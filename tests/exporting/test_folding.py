"""Folded models as fairseq's own transformer computes them."""

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq.models.transformer import TransformerModel
from fairseq.models.transformer.transformer_legacy import base_architecture
from tiny_models import exportable
from tiny_models.tiny import PAD, PREVIOUS, SOURCE, task
from torch.testing import assert_close

from realformer_nmt.common.errors import UserError
from realformer_nmt.exporting import as_stock_transformer
from realformer_nmt.exporting.loaded_run import LoadedRun

OPTIONS: dict[str, dict[str, Any]] = {
    "own tables": {},
    "shared": {"share_all_embeddings": True},
    "output shared": {"share_decoder_input_output_embed": True, "no_scale_embedding": True},
    "embeddings normalised": {"share_all_embeddings": True, "layernorm_embedding": True, "activation_fn": "gelu"},
    "learned positions": {"encoder_learned_pos": True, "decoder_learned_pos": True},
    "no positions": {"no_token_positional_embeddings": True},
    "unequal sides": {"encoder_embed_dim": 12, "encoder_layers": 3, "decoder_attention_heads": 4},
}


def stock(form: as_stock_transformer.StockTransformer) -> TransformerModel:
    args = Namespace(**form.options)
    base_architecture(args)
    model = TransformerModel.build_model(args, task())
    model.load_state_dict(form.weights)
    return model.eval()


def check_equal(source: LoadedRun) -> as_stock_transformer.StockTransformer:
    form = as_stock_transformer.of(source)
    words = PREVIOUS.ne(PAD)  # at padding stock computes other numbers, which nobody reads
    expected, actual = (
        model(SOURCE, SOURCE.ne(PAD).sum(1), PREVIOUS)[0][words] for model in (source.model, stock(form))
    )
    assert expected.std() > 0.1
    assert_close(actual, expected, atol=1e-5, rtol=0)
    return form


@pytest.mark.parametrize(
    ("scaling", "options"),
    [*((scaling, {}) for scaling in as_stock_transformer.FOLDED), *(("admin", each) for each in OPTIONS.values())],
)
def test_every_scaling_of_post_ln_is_a_plain_transformer(scaling: str, options: dict[str, Any], tmp_path: Path) -> None:
    source = exportable.source(("post", scaling, "dot", "none"), tmp_path, **options)
    form = check_equal(source)
    assert [name for name in form.weights if "shortcut" in name] == []


@pytest.mark.parametrize("scaling", as_stock_transformer.PLAIN)
def test_so_is_pre_ln_with_a_scaling_that_leaves_the_stream(scaling: str, tmp_path: Path) -> None:
    form = check_equal(exportable.source(("pre", scaling, "dot", "none"), tmp_path))
    assert [name for name in form.weights if "shortcut" in name] == []


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_pre_ln_is_one_as_it_is(options: dict[str, Any], tmp_path: Path) -> None:
    source = exportable.source(("pre", "none", "dot", "none"), tmp_path, **options)
    form = check_equal(source)
    state = source.model.state_dict()
    assert all(torch.equal(weight, state[name]) for name, weight in form.weights.items())


def test_tables_stay_shared_where_the_first_shortcut_is_plain(tmp_path: Path) -> None:
    form = as_stock_transformer.of(
        exportable.source(("post", "admin", "dot", "none"), tmp_path, share_all_embeddings=True)
    )
    assert form.options["share_all_embeddings"]
    assert len({form.weights[name].data_ptr() for name in as_stock_transformer.TABLES}) == 1


def test_a_weight_of_0_is_refused(tmp_path: Path) -> None:
    source = exportable.source(("post", "admin", "dot", "none"), tmp_path)
    shortcut: Any = source.model.get_submodule("decoder.layers.1.ffn_shortcut")
    shortcut.delta.data[3] = -shortcut.w0
    with pytest.raises(UserError, match=r"decoder\.layers\.1\.\S+ leaves fp32's range when shortcuts are folded"):
        as_stock_transformer.of(source)


@pytest.mark.parametrize(
    ("parts", "option"),
    [
        (("post", "admin", "dot", "mean"), "--score-carry mean"),
        (("dual", "none", "dot", "none"), "--residual-topology dual"),
        (("post", "none", "random+dot", "none"), r"--score-source random\+dot"),
        (("pre", "deepnorm", "dot", "none"), "--residual-scaling deepnorm"),
        (("post", "orthogonal", "dot", "none"), "--residual-scaling orthogonal"),
        (("pre", "laurel", "dot", "none"), "--residual-scaling laurel"),
        (("post", "none", "dot", "none", "rms"), "--norm rms"),
        (("post", "none", "dot", "none", "layer", "gated"), "--heads gated"),
    ],
)
def test_what_has_no_plain_form_is_refused_by_its_part(parts: tuple[str, ...], option: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"model.pt has {option}, which fairseq's transformer does not support"):
        as_stock_transformer.of(exportable.source(parts, tmp_path))
