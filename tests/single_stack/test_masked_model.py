"""Masked language models against fairseq's RoBERTa, with the same weights."""

import math
from argparse import Namespace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fairseq.criterions.masked_lm import MaskedLmLoss
from fairseq.models import BaseFairseqModel
from fairseq.models.roberta import RobertaModel
from fairseq.models.roberta import model as roberta_model
from fairseq.models.roberta.model import base_architecture, roberta_base_architecture, roberta_large_architecture
from tiny_models.masked import ENCODER, HEADS, NO_DROPOUT, TARGET, TOKENS, build, masked_task
from tiny_models.representatives import every_family
from tiny_models.stock import judged, spread
from tiny_models.tiny import PAD, dictionary

from realformer_nmt.common.errors import OptionError
from realformer_nmt.model.presets import ONE_SIDE_PRESETS
from realformer_nmt.single_stack.masked_model import MaskedModel


def stock(before: bool, **settings: Any) -> BaseFairseqModel:
    args = Namespace(**(ENCODER | HEADS | NO_DROPOUT | {"encoder_normalize_before": before} | settings))
    base_architecture(args)
    return RobertaModel.build_model(args, masked_task())


@pytest.mark.parametrize("untied", [False, True], ids=["tied output", "own output"])
@pytest.mark.parametrize(("family", "before"), [("post_ln", False), ("pre_ln", True)])
def test_logits_loss_and_gradients_are_stocks(family: str, before: bool, untied: bool) -> None:
    stock_model = spread(stock(before, untie_weights_roberta=untied))
    package_model = build(family, untie_weights_roberta=untied)
    package_model.load_state_dict(stock_model.state_dict(), strict=True)
    stock_model.load_state_dict(package_model.state_dict(), strict=True)
    criterion = MaskedLmLoss(SimpleNamespace(tpu=False), SimpleNamespace(source_dictionary=dictionary()))
    criterion.padding_idx = PAD
    sample = {"net_input": {"src_tokens": TOKENS}, "target": TARGET, "ntokens": 3, "nsentences": 3}
    torch.testing.assert_close(
        judged(package_model, criterion, sample), judged(stock_model, criterion, sample), rtol=1e-3, atol=1e-4
    )
    logits, stock_logits = (model.eval()(TOKENS)[0][TOKENS.ne(PAD)] for model in (package_model, stock_model))
    torch.testing.assert_close(logits, stock_logits, rtol=0, atol=1e-4)


@pytest.mark.parametrize("classes", [1, 3], ids=["regression", "classification"])
def test_a_classification_head_is_stocks(classes: int) -> None:
    package_model, stock_model = build("post_ln", load_checkpoint_heads=True), stock(False)
    stock_model.register_classification_head("sentences", num_classes=classes)
    spread(stock_model)
    package_model.load_state_dict(stock_model.state_dict(), strict=True)
    answers = [model.eval()(TOKENS, classification_head_name="sentences")[0] for model in (package_model, stock_model)]
    assert answers[0].shape == (3, classes)
    torch.testing.assert_close(*answers, rtol=0, atol=1e-4)


def test_spans_lie_in_the_context_or_are_the_first_position_and_are_judged_by_its_features() -> None:
    """The context ends before </s>; the third text has none."""
    model, possible = build("realformer"), [{0, 2, 3}, {0, 3, 4}, {0}]
    model.add_span_head()
    features, _ = model.eval()(TOKENS, features_only=True)
    assert model.span_head is not None
    expected = features @ model.span_head.weight.T + model.span_head.bias
    for text, positions in enumerate(possible):
        expected[text, [position for position in range(6) if position not in positions]] = -torch.inf
    bounds = {"src_lengths": torch.tensor([5, 6, 4]), "context": torch.tensor([2, 3, 3])}
    torch.testing.assert_close(model(TOKENS, **bounds), expected)


def test_a_head_for_spans_goes_where_there_is_one() -> None:
    plain, one, other = build("realformer"), build("realformer"), build("realformer")
    one.add_span_head()
    other.add_span_head()
    begun = {name: weight.clone() for name, weight in other.state_dict().items()}
    assert not torch.equal(one.state_dict()["span_head.weight"], begun["span_head.weight"])
    other.load_state_dict(plain.state_dict())  # of a masked model: the head stays as it began
    assert torch.equal(other.state_dict()["span_head.weight"], begun["span_head.weight"])
    other.load_state_dict(one.state_dict())
    assert torch.equal(other.state_dict()["span_head.weight"], one.state_dict()["span_head.weight"])
    plain.load_state_dict(one.state_dict())  # for another task
    assert plain.span_head is None
    whole = build("realformer", load_checkpoint_heads=True)
    whole.load_state_dict(one.state_dict())
    assert whole.state_dict().keys() == one.state_dict().keys()


@every_family
def test_padding_is_not_seen(family: str) -> None:
    model = build(family).train()
    model(TOKENS)  # ADMIN's profile
    together, alone = model.eval()(TOKENS)[0][2, :4], model(TOKENS[2:, :4])[0][0]
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)


def test_it_begins_as_bert_does() -> None:
    """N(0, 0.02), and DeepNorm's layers by Xavier with b = (8N)^(-1/4) of an encoder alone (DeepNet, table 1)."""
    wide = {"encoder_embed_dim": 64, "encoder_ffn_embed_dim": 256, "encoder_layers": 4}
    plain, deep = build("pre_ln", **wide), build("deepnorm", **wide)
    for name, weight in plain.named_parameters():
        if "norm" not in name and name.endswith("weight") and weight.dim() == 2:
            assert weight.detach().std() == pytest.approx(0.02, rel=0.1), name
    for name, weight in deep.encoder.sentence_encoder.layers.named_parameters():
        if name.endswith(("v_proj.weight", "out_proj.weight", "fc1.weight", "fc2.weight")):
            assert weight.detach().std() == pytest.approx(
                (8 * 4) ** -0.25 * math.sqrt(2 / sum(weight.shape)), rel=0.1
            ), name


def test_each_layer_begins_as_its_scaling_says() -> None:
    """DS-Init's first layer has stock fairseq's gains, yet is of a stack that is scaled: Xavier's times l^-1/4."""
    model = build("ds_init", encoder_embed_dim=64, encoder_ffn_embed_dim=256, encoder_layers=4)
    for depth, layer in enumerate(model.encoder.sentence_encoder.layers, 1):
        for weight in (layer.fc1.weight, layer.fc2.weight, layer.self_attn.out_proj.weight):
            assert weight.detach().std() == pytest.approx(depth**-0.25 * math.sqrt(2 / sum(weight.shape)), rel=0.1)


@pytest.mark.parametrize(
    ("size", "architecture"), [("base", roberta_base_architecture), ("large", roberta_large_architecture)]
)
def test_sizes_are_robertas(size: str, architecture: Any) -> None:
    args = Namespace()
    architecture(args)
    for option, value in ONE_SIDE_PRESETS["bert"][f"post_ln_bert_{size}"].items():
        assert getattr(args, option, value) == value, option


@pytest.mark.parametrize(("size", "millions"), [("small", 30), ("base", 110), ("large", 340), ("xlarge", 1000)])
def test_sizes_are_those_of_the_realformer_paper(size: str, millions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """He et al. (2021), table 1, with BERT's 30,522 words."""
    options = ONE_SIDE_PRESETS["bert"][f"realformer_bert_{size}"]
    monkeypatch.setattr(roberta_model, "init_bert_params", lambda _: None)  # which cannot fill what is only counted
    words = type("Words", (), {"__len__": lambda _: 30522, "pad": lambda _: 1})()
    with torch.device("meta"):
        task = SimpleNamespace(source_dictionary=words, cfg=SimpleNamespace())
        model = MaskedModel.build_model(Namespace(**(HEADS | NO_DROPOUT | options | {"max_positions": 512})), task)
    assert sum(parameter.numel() for parameter in model.parameters()) == pytest.approx(millions * 1e6, rel=0.08)


def test_realformer_etc_reads_a_text_of_its_own_length_and_carries_scores_of_its_pattern() -> None:
    preset = ONE_SIDE_PRESETS["etc"]["realformer_etc_tiny"]
    room, window, first = (preset[name] for name in ("max_positions", "encoder_window", "encoder_global_tokens"))
    model = MaskedModel.build_model(Namespace(**(HEADS | preset)), masked_task()).eval()
    carried: list[torch.Tensor] = []
    attention = model.encoder.sentence_encoder.layers[-1].self_attn
    attention.register_forward_hook(lambda _module, _given, attended: carried.extend(attended.carried))
    with torch.no_grad():
        model(torch.full((1, int(room)), 5))
    blocks = -(-int(room) // int(window))
    pairs = blocks * int(window) * (3 * int(window) + int(first)) + int(first) * int(room)
    assert [total.numel() for total in carried] == [4 * pairs]  # of 4 heads
    assert 4 * pairs < 4 * int(room) ** 2 / 8


@pytest.mark.parametrize(("family", "option"), [("post_ln", "max_positions"), ("synthesizer_random", "score_length")])
def test_samples_longer_than_its_positions_are_refused(family: str, option: str) -> None:
    with pytest.raises(OptionError, match="--tokens-per-sample 16 is more than the 8 positions of the model"):
        build(family, **{option: 8})


def test_swish_is_an_activation_of_the_head_that_predicts_words_too() -> None:
    assert build("post_ln", activation_fn="swish")(TOKENS)[0].isfinite().all()


def test_what_only_robertas_encoder_does_is_refused() -> None:
    with pytest.raises(OptionError, match="return_all_hiddens and token_embeddings are not supported"):
        build("post_ln").encoder.sentence_encoder(TOKENS, return_all_hiddens=True)
