"""A decoder alone: against stock fairseq's, and of each family."""

from typing import Any

import pytest
import torch
from fairseq.models import BaseFairseqModel
from fairseq.sequence_generator import SequenceGenerator
from formulas.profiles import Profiling, weights_of
from tiny_models.representatives import every_family
from tiny_models.stock import spread, stock_decoder
from tiny_models.tiny import PAD, PREVIOUS, SIZE, build, dictionary, is_loud, needs_gradient, opened
from torch import Tensor

from realformer_nmt.model.attention.cache import Decoding
from realformer_nmt.model.config import TranslationConfig
from realformer_nmt.model.models.admin_profile import shortcuts
from realformer_nmt.model.presets import FAMILIES
from realformer_nmt.single_stack.language_model import LanguageModel

REAL = PREVIOUS != PAD
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "tied_output": {"share_decoder_input_output_embed": True},
    "learned_positions": {"encoder_learned_pos": True, "decoder_learned_pos": True},
    "normed_embedding": {"layernorm_embedding": True, "no_scale_embedding": True, "activation_fn": "gelu"},
}


def alone(**options: Any) -> Any:
    torch.manual_seed(1)
    cfg = TranslationConfig(**(SIZE | {"dropout": 0.0, "score_length": 12} | options))
    return LanguageModel.build(cfg, dictionary())


@pytest.fixture(params=["post", "pre"])
def topology(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=OPTIONS)
def options(request: pytest.FixtureRequest) -> dict[str, Any]:
    return OPTIONS[request.param]


@pytest.fixture
def decoders(topology: str, options: dict[str, Any]) -> list[BaseFairseqModel]:
    stock_model = spread(stock_decoder(topology == "pre", **options))
    package_model = alone(residual_topology=topology, **options)
    package_model.load_state_dict(stock_model.state_dict(), strict=True)
    return [package_model.eval(), stock_model.eval()]


def gradients(model: BaseFairseqModel, output: Tensor) -> dict[str, Tensor]:
    names, parameters = zip(*model.named_parameters(), strict=True)
    return dict(zip(names, torch.autograd.grad(output.square().sum(), parameters), strict=True))


def assert_same_gradients(actual: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert actual.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(actual[name], gradient, rtol=1e-4, atol=1e-4, msg=name)


def test_a_decoder_alone_gives_stocks_logits_and_gradients(decoders: list[BaseFairseqModel]) -> None:
    logits, stock_logits = (model(PREVIOUS, src_lengths=REAL.sum(1))[0][REAL] for model in decoders)
    torch.testing.assert_close(logits, stock_logits, rtol=0, atol=1e-5)
    assert_same_gradients(gradients(decoders[0], logits), gradients(decoders[1], stock_logits))


def test_a_decoder_alone_searches_as_stocks(decoders: list[BaseFairseqModel]) -> None:
    sample = {"net_input": {"src_tokens": PREVIOUS[:, :1], "src_lengths": torch.ones(3, dtype=torch.long)}}
    hypotheses = []
    for model in decoders:
        search = SequenceGenerator([model], dictionary(), beam_size=4, max_len=9, min_len=2)
        hypotheses.append(search.generate([model], sample, prefix_tokens=PREVIOUS[:, 1:2]))
    for one, other in zip(*hypotheses, strict=True):
        assert [beam["tokens"].tolist() for beam in one] == [beam["tokens"].tolist() for beam in other]
        torch.testing.assert_close(*(torch.stack([beam["score"] for beam in beams]) for beams in (one, other)))


@every_family
def test_cached_decoding_equals_full_decoding_and_checkpointed_gradients_are_the_same(family: str) -> None:
    """Rows change places on the way. A pair of parts meets in the layers, of which test_model.py has the cover."""
    model = opened(alone(**FAMILIES[family])).eval()
    logits, _ = model(PREVIOUS)
    for name, gradient in gradients(model, logits[REAL]).items():
        assert is_loud(logits) or not needs_gradient(model, name) or gradient.abs().max() > 0, name
    logits, _ = model.train()(PREVIOUS)
    plain = gradients(model, logits[REAL])
    model.decoder.checkpoint_activations = True
    for name, gradient in gradients(model, model(PREVIOUS)[0][REAL]).items():
        assert gradient.isfinite().all(), name
        assert torch.equal(plain[name], gradient), name
    state: dict[str, Decoding] = {}
    order, model = torch.tensor([2, 0, 2, 1, 1]), model.eval()
    for end in range(1, 4):
        step, _ = model(PREVIOUS[:, :end], incremental_state=state)
        torch.testing.assert_close(step[:, 0], logits[:, end - 1], rtol=1e-4, atol=1e-5)
    model.decoder.reorder_incremental_state_scripting(state, order)
    step, _ = model(PREVIOUS[order, :4], incremental_state=state)
    expected = model(PREVIOUS[order, :4])[0][:, 3:]
    torch.testing.assert_close(step[REAL[order, 3]], expected[REAL[order, 3]], rtol=1e-4, atol=1e-5)


def test_admins_profile_counts_the_sublayers_that_there_are(options: dict[str, Any]) -> None:
    model, stock_model = alone(residual_scaling="admin", **options), stock_decoder(False, **options)
    weights = {name: value for name, value in model.state_dict().items() if "shortcut" not in name}
    stock_model.load_state_dict(weights, strict=True)
    stack = Profiling(stock_model.decoder.layers)
    stock_model.train()(PREVIOUS, src_lengths=REAL.sum(1))
    model.train()(PREVIOUS)
    assert weights_of(model.decoder) == pytest.approx(stack.weights[:-1], rel=1e-5)
    assert len(stack.weights[:-1]) == len(shortcuts(model.decoder)) == 4


def test_the_encoders_options_are_not_asked() -> None:
    nothing = {f"encoder_{size}": 0 for size in ("layers", "embed_dim", "attention_heads")}
    assert len(alone(**nothing).decoder.layers) == 2
    with pytest.raises(ValueError, match="--decoder-layers 0: allowed is 1 or more"):
        alone(decoder_layers=0)


def test_a_decoder_that_looks_at_an_encoder_needs_its_output() -> None:
    with pytest.raises(TypeError, match="encoder_out is missing: pass what the encoder gave"):
        build().decoder(PREVIOUS)
