"""ADMIN's profile against one of stock fairseq's layers by the authors' formula, and the life of its result."""

import logging
from argparse import Namespace
from typing import Any

import pytest
import torch
from formulas.profiles import Profiling, weights_of
from tiny_models.stock import stock
from tiny_models.tiny import EOS, PAD, PREVIOUS, SOURCE, build, combination

from realformer_nmt.model.models.admin_profile import is_pending
from realformer_nmt.model.models.meta_model import skeleton
from realformer_nmt.model.models.model import TranslationModel
from realformer_nmt.model.presets import PRESETS

ADMIN = ("post", "admin", "dot", "none")


def by_stock(model: TranslationModel, **options: Any) -> list[float]:
    stock_model = stock(False, **options)
    weights = stock_model.state_dict()
    weights.update({name: value for name, value in model.state_dict().items() if name in weights})
    stock_model.load_state_dict(weights)
    stacks = [Profiling(stock_model.encoder.layers), Profiling(stock_model.decoder.layers)]
    stock_model.double().train()(SOURCE, SOURCE.ne(PAD).sum(1), PREVIOUS)
    return [w for stack in stacks for w in stack.weights[:-1]]


def profile_of(model: TranslationModel) -> list[float]:
    return weights_of(model.encoder) + weights_of(model.decoder)


def test_the_first_training_batch_gives_the_authors_profile() -> None:
    """The batch is padded on both sides."""
    model = combination(ADMIN)
    model.eval()(SOURCE, None, PREVIOUS)
    assert profile_of(model) == [1.0] * 10
    model.train()(SOURCE, None, PREVIOUS)
    assert profile_of(model) == pytest.approx(by_stock(model), rel=1e-6)
    assert profile_of(model)[0] == profile_of(model)[4] == 1.0


def test_later_batches_change_nothing_and_the_log_speaks_once(caplog: pytest.LogCaptureFixture) -> None:
    model = combination(ADMIN).train()
    with caplog.at_level(logging.INFO):
        model(SOURCE, None, PREVIOUS)
        first = profile_of(model)
        model(SOURCE.flip(0), None, PREVIOUS.flip(0))
    assert profile_of(model) == first
    spoken = [record.message for record in caplog.records if "ADMIN profile" in record.message]
    assert [message.split(",")[1].split(":")[0].strip() for message in spoken] == ["encoder", "decoder"]
    assert all(f"{w:.3f}" in spoken[0] for w in first[:4])


def test_a_loaded_profile_is_kept() -> None:
    model, other = combination(ADMIN).train(), combination(ADMIN, encoder_attention_heads=4).train()
    model(SOURCE, None, PREVIOUS)
    other(SOURCE.flip(1), None, PREVIOUS)
    other.load_state_dict(model.state_dict())
    other(SOURCE[:1], None, PREVIOUS[:1])
    assert profile_of(other) == profile_of(model)
    assert not is_pending(other)


def test_a_model_that_takes_unprofiled_weights_is_profiled_again() -> None:
    fresh, model = combination(ADMIN), combination(ADMIN).train()
    model(SOURCE, None, PREVIOUS)
    model.load_state_dict(fresh.state_dict())
    assert is_pending(model)
    model(SOURCE, None, PREVIOUS)
    assert profile_of(model) == pytest.approx(by_stock(model), rel=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {"share_all_embeddings": True},
        {"encoder_embed_dim": 12, "encoder_layers": 3, "decoder_ffn_embed_dim": 20},
        {"encoder_learned_pos": True, "decoder_learned_pos": True, "activation_fn": "gelu"},
    ],
    ids=str,
)
@pytest.mark.parametrize("checkpointed", [True, False])
def test_the_authors_profile_of_other_models(options: dict[str, Any], checkpointed: bool) -> None:
    model = combination(ADMIN, **options, checkpoint_activations=checkpointed).train()
    logits, _ = model(SOURCE, None, PREVIOUS)
    logits.log_softmax(-1)[..., EOS].sum().backward()
    assert profile_of(model) == pytest.approx(by_stock(model, **options), rel=1e-6)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float16, 0.005), (torch.bfloat16, 0.04)])
def test_half_precision_gives_the_same_profile_within_its_rounding(dtype: torch.dtype, tolerance: float) -> None:
    model = combination(ADMIN)
    expected = by_stock(model)
    model.to(dtype).train()(SOURCE, None, PREVIOUS)
    assert profile_of(model) == pytest.approx(expected, rel=tolerance)


def test_dropout_is_on_during_the_profile() -> None:
    quiet, noisy = combination(ADMIN).train(), combination(ADMIN, dropout=0.5).train()
    for model in (quiet, noisy):
        model(SOURCE, None, PREVIOUS)
    # x / (1 - p) for the half of the entries that stay doubles the second moment
    assert profile_of(noisy)[1] > 1.2 * profile_of(quiet)[1]


@pytest.mark.parametrize("topology", ["pre", "sub_ln"])
def test_an_overflowing_profile_is_an_error_that_blames_no_other_topology(topology: str) -> None:
    """Without a norm on the stream w multiplies from sub-layer to sub-layer, faster than exponentially."""
    model = combination((topology, "admin", "dot", "none"), encoder_layers=30).train()
    with pytest.raises(FloatingPointError, match=r"ADMIN's profile overflows: no norm .* use --residual-topology post"):
        model(SOURCE, None, PREVIOUS)


def test_models_without_profiled_weights_are_never_pending() -> None:
    assert not is_pending(build())
    assert not is_pending(combination(("post", "admin_fixed", "dot", "none")))


def test_the_profile_that_is_known_of_wmt_en_de() -> None:
    """The published start of the encoder's profile at base width; words at random do for sentences within 2 %."""
    torch.manual_seed(1)
    cfg = Namespace(**(PRESETS["admin_wmt_en_de"] | {"encoder_layers": 3, "decoder_layers": 1}))
    model = skeleton(cfg, 5000, 5000).train()
    words = torch.randint(4, 5000, (32, 28))
    model(words, None, words[:, :2])
    assert profile_of(model)[:5] == pytest.approx([1.0, 1.319, 1.455, 1.512, 1.643], rel=0.02)
