"""post_ln and pre_ln against stock fairseq's transformer, both ways: weights, logits, loss, gradients, beams."""

from argparse import Namespace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import label_smoothed_nll_loss
from fairseq.models.transformer import TransformerModel
from fairseq.sequence_generator import SequenceGenerator
from tiny_models.stock import stock
from tiny_models.tiny import EOS, PAD, PREVIOUS, SIZE, SOURCE, build, dictionary, task

from realformer_nmt.model.models.model import TranslationModel

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "shared": {"share_all_embeddings": True},
    "tied_output": {"share_decoder_input_output_embed": True},
    "learned_positions": {"encoder_learned_pos": True, "decoder_learned_pos": True, "max_source_positions": 20},
    "normed_embedding": {"layernorm_embedding": True, "no_scale_embedding": True, "activation_fn": "gelu"},
    "unequal_sides": {"encoder_embed_dim": 12, "encoder_layers": 3, "decoder_ffn_embed_dim": 20},
    "no_positions": {"no_token_positional_embeddings": True, "activation_fn": "tanh"},
}
REAL = PREVIOUS != PAD
Pair = tuple[TranslationModel, TransformerModel]


@pytest.fixture(params=["post", "pre"])
def topology(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=OPTIONS)
def pair(request: pytest.FixtureRequest, topology: str) -> Pair:
    """Ours, holding the weights of a stock model; the biases, which start at 0 in ours, are random in both."""
    options = OPTIONS[request.param]
    stock_model = stock(topology == "pre", **options)
    torch.manual_seed(6)
    for parameter in stock_model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    package_model = build(residual_topology=topology, **options)
    package_model.load_state_dict(stock_model.state_dict(), strict=True)
    return package_model.eval(), stock_model.eval()


def test_equal_logits_and_attention(pair: Pair) -> None:
    (logits, ours_extra), (stock_logits, theirs_extra) = (
        model(SOURCE, SOURCE.ne(PAD).sum(1), PREVIOUS) for model in pair
    )
    torch.testing.assert_close(logits[REAL], stock_logits[REAL], rtol=0, atol=1e-5)
    torch.testing.assert_close(ours_extra["attn"][0][REAL], theirs_extra["attn"][0][REAL], rtol=0, atol=1e-5)


def test_equal_loss_and_gradients(pair: Pair) -> None:
    target = torch.cat([PREVIOUS[:, 1:], torch.full((3, 1), EOS)], 1).masked_fill(~REAL, PAD)
    gradients, losses = [], []
    for model in pair:
        output = model.train()(SOURCE, SOURCE.ne(PAD).sum(1), PREVIOUS)
        lprobs = model.get_normalized_probs(output, log_probs=True).flatten(0, 1)
        loss, _ = label_smoothed_nll_loss(lprobs, target.view(-1, 1), 0.1, ignore_index=PAD)
        loss.backward()
        losses.append(loss)
        gradients.append({name: parameter.grad for name, parameter in model.named_parameters()})
    torch.testing.assert_close(losses[0], losses[1])
    assert gradients[0].keys() == gradients[1].keys()
    for name, gradient in gradients[1].items():
        torch.testing.assert_close(gradients[0][name], gradient, rtol=1e-4, atol=1e-5, msg=name)


def test_equal_beam_search(pair: Pair) -> None:
    sample = {"net_input": {"src_tokens": SOURCE, "src_lengths": SOURCE.ne(PAD).sum(1)}}
    hypotheses, stock_hypotheses = (
        SequenceGenerator([model], dictionary(), beam_size=4, max_len_b=10).generate([model], sample) for model in pair
    )
    for one, other in zip(hypotheses, stock_hypotheses, strict=True):
        assert [beam["tokens"].tolist() for beam in one] == [beam["tokens"].tolist() for beam in other]
        scores = [torch.stack([beam["score"] for beam in beams]) for beams in (one, other)]
        torch.testing.assert_close(*scores, rtol=0, atol=1e-5)


def test_our_weights_load_into_stock(topology: str) -> None:
    package_model, stock_model = build(residual_topology=topology).eval(), stock(topology == "pre").eval()
    stock_model.load_state_dict(package_model.state_dict(), strict=True)
    logits = [model(SOURCE, SOURCE.ne(PAD).sum(1), PREVIOUS)[0] for model in (package_model, stock_model)]
    torch.testing.assert_close(*(both[REAL] for both in logits), rtol=0, atol=1e-5)


def test_scaled_weights_do_not_load_into_stock() -> None:
    admin = build(residual_scaling="admin")
    with pytest.raises(RuntimeError, match=r"Unexpected key.*self_attn_shortcut|Unexpected key.*ffn_shortcut"):
        stock(False).load_state_dict(admin.state_dict(), strict=True)


@pytest.mark.parametrize("scaling", ["none", "admin"])
@pytest.mark.parametrize("width", [64, 96])
def test_attention_starts_as_wide_as_stocks(width: int, scaling: str) -> None:
    """Stock's encoder-decoder attention has another gain where the widths of the sides differ."""
    sizes = {"encoder_embed_dim": width, "decoder_embed_dim": 64}
    weights, stock_weights = (
        dict(model.named_parameters()) for model in (build(residual_scaling=scaling, **sizes), stock(False, **sizes))
    )
    for name, weight in stock_weights.items():
        if "attn" in name and name.endswith("weight") and weight.dim() == 2:
            assert weights[name].abs().max().item() == pytest.approx(weight.abs().max().item(), rel=0.01), name


def test_feed_forward_blocks_start_as_xavier_says_biases_at_0_and_embeddings_as_normal_numbers() -> None:
    model = build(encoder_embed_dim=64)
    for weight in (model.encoder.layers[0].fc1.weight, model.encoder.layers[0].fc2.weight):
        assert 0.95 < weight.abs().max() / (6 / sum(weight.shape)) ** 0.5 <= 1
    assert not any(weight.any() for name, weight in model.named_parameters() if name.endswith("bias"))
    embedding = model.encoder.embed_tokens.weight.detach()
    assert embedding[PAD].abs().max() == 0
    assert embedding[PAD + 1 :].std() == pytest.approx(64**-0.5, rel=0.1)


def test_left_padded_targets_are_refused() -> None:
    left_padded_task = task()
    left_padded_task.cfg = SimpleNamespace(left_pad_target=True)
    with pytest.raises(ValueError, match="--left-pad-target is not supported: leave it out"):
        TranslationModel.build_model(Namespace(**SIZE), left_padded_task)


def test_separate_dictionaries_cannot_share_all_embeddings() -> None:
    with pytest.raises(ValueError, match=r"these have 14 and 7 entries.*--joined-dictionary"):
        TranslationModel.build_model(
            Namespace(**SIZE, share_all_embeddings=True), task(dictionary(), dictionary("abc"))
        )
