"""Models in which each pair of parts meets do what any sequence model must do."""

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from tiny_models.combinations import COVER, Parts
from tiny_models.tiny import (
    EOS,
    PAD,
    PREVIOUS,
    SOURCE,
    build,
    combination,
    is_loud,
    needs_gradient,
    profiled,
    step_by_step,
)
from torch import Tensor

from realformer_nmt.model.attention.cache import Decoding
from realformer_nmt.model.models.model import TranslationModel
from realformer_nmt.model.presets import FAMILIES
from realformer_nmt.model.scaling import SCALINGS

REAL = PREVIOUS != PAD


def gradients(model: TranslationModel) -> tuple[Tensor, ...]:
    logits, _ = model(SOURCE, None, PREVIOUS)
    return torch.autograd.grad(logits.log_softmax(-1)[REAL][:, EOS].sum(), list(model.parameters()))


def check_same(one: Tensor, other: Tensor) -> None:
    """Compare logits, of which the small ones have the rounding of the largest: the softmax is in fp32."""
    rounding = 1e-7 * float(other.detach().abs().max())
    torch.testing.assert_close(one, other, rtol=1e-4, atol=max(1e-5, rounding))


def check_cached_decoding_equals_full_decoding(model: TranslationModel) -> None:
    encoder_out = model.encoder(SOURCE)
    full, _ = model.decoder(PREVIOUS, encoder_out)
    assert full.isfinite().all()
    cached = step_by_step(model, encoder_out, PREVIOUS)
    check_same(cached[REAL], full[REAL])


def check_a_sentence_alone_equals_itself_in_a_padded_batch(model: TranslationModel) -> None:
    together, _ = model(SOURCE, None, PREVIOUS)
    right_padded, _ = model(torch.tensor([[7, 5, 2, 1, 1, 1], *SOURCE[1:].tolist()]), None, PREVIOUS)
    alone, _ = model(SOURCE[:1, 3:], None, PREVIOUS[:1, :3])
    check_same(together[:1, :3], alone)
    check_same(right_padded[:1, :3], alone)


def check_no_position_sees_what_comes_after_it(model: TranslationModel) -> None:
    changed = PREVIOUS.clone()
    changed[1, 3:] = torch.tensor([4, 4])
    before, _ = model(SOURCE, None, PREVIOUS)
    after, _ = model(SOURCE, None, changed)
    torch.testing.assert_close(before[1, :3], after[1, :3], rtol=0, atol=0)


def check_reordered_beams_decode_as_the_reordered_sentences_afresh(model: TranslationModel) -> None:
    order = torch.tensor([2, 0, 2, 1])
    encoder_out = model.encoder(SOURCE)
    state: dict[str, Decoding] = {}
    for end in (1, 2):
        model.decoder(PREVIOUS[:, :end], encoder_out, incremental_state=state)
    model.decoder.reorder_incremental_state_scripting(state, order)
    reordered = model.encoder.reorder_encoder_out(encoder_out, order)
    third, _ = model.decoder(PREVIOUS[order, :3], reordered, incremental_state=state)
    afresh, _ = model(SOURCE[order], None, PREVIOUS[order, :3])
    check_same(third, afresh[:, 2:])


def check_every_parameter_gets_a_gradient(model: TranslationModel) -> None:
    for (name, _), gradient in zip(model.named_parameters(), gradients(model), strict=True):
        assert not needs_gradient(model, name) or gradient.abs().max() > 0, name


def check_checkpointing_changes_no_gradient(model: TranslationModel) -> None:
    plain = gradients(model)
    for side in (model.encoder, model.decoder):
        side.checkpoint_activations = True
    for (name, _), one, other in zip(model.named_parameters(), plain, gradients(model), strict=True):
        assert one.isfinite().all(), name
        assert torch.equal(one, other), name


PROPERTIES = (
    check_cached_decoding_equals_full_decoding,
    check_a_sentence_alone_equals_itself_in_a_padded_batch,
    check_no_position_sees_what_comes_after_it,
    check_reordered_beams_decode_as_the_reordered_sentences_afresh,
    check_checkpointing_changes_no_gradient,
)


def failures(model: TranslationModel, checks: Sequence[Callable[[TranslationModel], None]]) -> dict[str, str]:
    """Return the message of each check that fails, by the check's name."""
    messages = {}
    for check in checks:
        try:
            check(model)
        except AssertionError as error:
            messages[check.__name__] = str(error)
    return messages


@pytest.mark.parametrize("parts", COVER, ids="-".join)
def test_parts_make_a_sequence_model(parts: Parts) -> None:
    """fp64, since fp32 rounds logits of 1,000, without a norm, by more than the bound; the softmax stays in fp32.

    ADMIN's profile, which without a norm multiplies the stream by thousands, comes after the first check.
    """
    model = combination(parts).eval()
    is_quiet = not is_loud(model(SOURCE, None, PREVIOUS)[0])
    messages = failures(model, [check_every_parameter_gets_a_gradient] * is_quiet)
    assert messages | failures(profiled(model).double(), PROPERTIES) == {}


@pytest.mark.parametrize("source", ["random", "fixed_random", "factorised_random"])
def test_attention_dropout_differs_between_sentences_that_share_scores(source: str) -> None:
    model = build(score_source=source, attention_dropout=0.5).train()
    encoder_out = model.encoder(SOURCE[1:2].expand(2, -1))["encoder_out"][0]  # S x B x C
    assert (encoder_out[:, 0] != encoder_out[:, 1]).any()


def test_each_kind_of_dropout_changes_what_is_trained_in_its_own_way() -> None:
    kinds = ({}, {"dropout": 0.3}, {"activation_dropout": 0.3}, {"attention_dropout": 0.3})
    logits = [build(**kind).train()(SOURCE, None, PREVIOUS)[0] for kind in kinds]
    assert not any(torch.equal(one, other) for one, other in itertools.combinations(logits, 2))


def test_dropout_applies_where_checkpointing_computes_a_layer_again() -> None:
    model = combination(("post", "none", "dot", "mean"), dropout=0.5, attention_dropout=0.5).train()
    results = []
    for again in (False, True):
        model.encoder.checkpoint_activations = model.decoder.checkpoint_activations = again
        torch.manual_seed(3)
        results.append(gradients(model))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


HALF = [("post", "admin", "dot", "sum"), ("post", "admin", "dot", "mean"), ("dual", "none", "dot", "sum")]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("parts", HALF, ids="-".join)
def test_half_precision_stays_finite_at_60_and_12_layers(dtype: torch.dtype, parts: tuple[str, str, str, str]) -> None:
    model = combination(parts, encoder_layers=60, decoder_layers=12).to(dtype)
    with torch.no_grad():
        for layer in model.encoder.layers:
            # 60 scores of about 1,800 and 60 branches of 2,000 are each beyond fp16's 65,504
            layer.self_attn.q_proj.bias.fill_(30)
            layer.self_attn.k_proj.bias.fill_(30)
            layer.fc2.bias[::2] = 2000
    logits, _ = model.train()(SOURCE, None, PREVIOUS)
    logits.float().logsumexp(-1).sum().backward()
    assert logits[REAL].isfinite().all()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.encoder.layers[-1].parameters())


DEEP = ("delta", "gpas", "keel", "layer_scale", "layernorm_scaling", "mix_ln", "moda", "norm_former")
WIDE = ("attn_res", "dense_former", "hyper", "mhc", "mhc_lite")  # which carry more than one stream


@pytest.mark.parametrize("family", [*DEEP, *WIDE])
def test_families_for_depth_stay_finite_in_bf16_at_60_and_12_layers(family: str) -> None:
    carry = {"score_carry": "mean"} if family in WIDE else {}
    model = build(**FAMILIES[family] | carry, encoder_layers=60, decoder_layers=12).to(torch.bfloat16).train()
    logits, _ = model(SOURCE, None, PREVIOUS)
    logits.float().logsumexp(-1).sum().backward()
    assert logits[REAL].isfinite().all()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_a_sequence_longer_than_the_table_is_refused() -> None:
    model = build(score_source="random", score_length=5)
    with pytest.raises(ValueError, match=r"6 tokens is longer than the Synthesizer's table of 5: .*--score-length 6"):
        model(SOURCE, None, PREVIOUS)
    assert model.max_positions() == (5, 5)
    assert model.max_decoder_positions() == 5


@pytest.mark.parametrize("scaling", SCALINGS)
def test_a_model_saved_as_a_whole_computes_the_same(scaling: str, tmp_path: Path) -> None:
    model = build(residual_scaling=scaling).eval()
    torch.save(model, tmp_path / "model.pt")
    copied = torch.load(tmp_path / "model.pt", weights_only=False)
    assert torch.equal(copied(SOURCE, None, PREVIOUS)[0], model(SOURCE, None, PREVIOUS)[0])


def test_attention_comes_back_in_the_order_of_the_source() -> None:
    model = build().eval()
    _, extra = model(SOURCE, None, PREVIOUS)
    attention = extra["attn"][0]  # B x T x S
    assert (attention[SOURCE.eq(PAD).unsqueeze(1).expand_as(attention)] == 0).all()
    torch.testing.assert_close(attention.sum(-1), torch.ones(attention.shape[:2]))
    _, alone = model(SOURCE[:1, 3:], None, PREVIOUS[:1])
    torch.testing.assert_close(attention[:1, :, 3:], alone["attn"][0])
