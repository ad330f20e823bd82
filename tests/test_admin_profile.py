"""ADMIN's profile against a forward pass in plain tensor code, and the life of its result."""

import logging
import math
from argparse import Namespace

import pytest
import torch
from tiny import EOS, PAD, PREVIOUS, SOURCE, build, combination
from torch import Tensor
from torch.nn.functional import layer_norm

from realformer_nmt.admin_profile import is_pending, shortcuts
from realformer_nmt.model import TranslationModel
from realformer_nmt.presets import PRESETS
from realformer_nmt.skeleton import skeleton

ADMIN = ("post", "admin", "dot", "none")
WIDTH, HEADS = 8, 2


class Reference:
    """A Post-LN transformer that notes r = sqrt(var(w x) + var(f(x))) after every sub-layer and scales by it."""

    def __init__(self, weights: dict[str, Tensor], side: str) -> None:
        self.weights, self.side, self.profile = weights, side, [1.0]

    def linear(self, name: str, x: Tensor) -> Tensor:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def attention(self, name: str, x: Tensor, memory: Tensor, forbidden: Tensor) -> Tensor:
        heads = []
        for h in range(HEADS):
            mine = slice(h * WIDTH // HEADS, (h + 1) * WIDTH // HEADS)
            q, k, v = (
                self.linear(f"{name}.{p}_proj", value)[..., mine]
                for p, value in [("q", x), ("k", memory), ("v", memory)]
            )
            scores = torch.einsum("btd,bsd->bts", q, k) / math.sqrt(WIDTH // HEADS)
            weights = scores.exp() * ~forbidden
            heads.append(weights / weights.sum(-1, keepdim=True) @ v)
        return self.linear(f"{name}.out_proj", torch.cat(heads, -1))

    def join(self, norm: str, x: Tensor, branch: Tensor) -> Tensor:
        w = self.profile[-1]
        self.profile.append(math.sqrt((w * x).var() + branch.var()))
        return layer_norm(w * x + branch, (WIDTH,), self.weights[f"{norm}.weight"], self.weights[f"{norm}.bias"])

    def run(
        self, x: Tensor, forbidden: Tensor, memory: Tensor | None = None, to_source: Tensor | None = None
    ) -> Tensor:
        for i in (0, 1):
            layer = f"{self.side}.layers.{i}"
            x = self.join(f"{layer}.self_attn_layer_norm", x, self.attention(f"{layer}.self_attn", x, x, forbidden))
            if memory is not None:
                branch = self.attention(f"{layer}.encoder_attn", x, memory, to_source)
                x = self.join(f"{layer}.encoder_attn_layer_norm", x, branch)
            branch = self.linear(f"{layer}.fc2", self.linear(f"{layer}.fc1", x).relu())
            x = self.join(f"{layer}.final_layer_norm", x, branch)
        return x


def positions(tokens: Tensor) -> Tensor:
    """Sines, then cosines, of the position among the real tokens, from PAD + 1; nothing at padding."""
    real = tokens.ne(PAD)
    rates = torch.exp(torch.arange(WIDTH // 2) * -(math.log(10000) / (WIDTH // 2 - 1)))
    angles = (real.cumsum(1) + PAD).unsqueeze(-1) * rates
    return torch.cat([angles.sin(), angles.cos()], -1) * real.unsqueeze(-1)


def by_hand(model: TranslationModel) -> list[float]:
    weights = {name: value.double() for name, value in model.state_dict().items()}
    padding = SOURCE.eq(PAD)

    def embed(side: str, tokens: Tensor) -> Tensor:
        return math.sqrt(WIDTH) * weights[f"{side}.embed_tokens.weight"][tokens] + positions(tokens).double()

    encoder, decoder = Reference(weights, "encoder"), Reference(weights, "decoder")
    memory = encoder.run(embed("encoder", SOURCE) * ~padding.unsqueeze(-1), padding.unsqueeze(1))
    future = torch.ones(5, 5, dtype=torch.bool).triu(1)
    decoder.run(embed("decoder", PREVIOUS), future, memory, padding.unsqueeze(1))
    return encoder.profile[:-1] + decoder.profile[:-1]


def profile_of(model: TranslationModel) -> list[float]:
    return [float(s.weight().mean()) for side in (model.encoder, model.decoder) for _, s in shortcuts(side)]


def test_the_first_training_batch_gives_the_profile_that_the_formula_gives() -> None:
    model = combination(ADMIN)
    model.eval()(SOURCE, None, PREVIOUS)
    assert profile_of(model) == [1.0] * 10
    model.train()(SOURCE, None, PREVIOUS)
    assert profile_of(model) == pytest.approx(by_hand(model), rel=1e-5)
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
    assert profile_of(model) == pytest.approx(by_hand(model), rel=1e-5)


@pytest.mark.parametrize("option", [{"checkpoint_activations": True}, {"share_all_embeddings": True}])
def test_options_that_leave_the_numbers_alone_leave_the_profile_alone(option: dict[str, bool]) -> None:
    model = combination(ADMIN, **option).train()
    logits, _ = model(SOURCE, None, PREVIOUS)
    logits.log_softmax(-1)[..., EOS].sum().backward()
    assert profile_of(model) == pytest.approx(by_hand(model), rel=1e-5)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float16, 0.005), (torch.bfloat16, 0.04)])
def test_half_precision_gives_the_same_profile_within_its_rounding(dtype: torch.dtype, tolerance: float) -> None:
    model = combination(ADMIN)
    expected = by_hand(model)
    model.to(dtype).train()(SOURCE, None, PREVIOUS)
    assert profile_of(model) == pytest.approx(expected, rel=tolerance)


def test_dropout_is_on_during_the_profile() -> None:
    quiet, noisy = combination(ADMIN).train(), combination(ADMIN, dropout=0.5).train()
    for model in (quiet, noisy):
        model(SOURCE, None, PREVIOUS)
    # x / (1 - p) for the half of the entries that stay doubles the second moment
    assert profile_of(noisy)[1] > 1.2 * profile_of(quiet)[1]


def test_an_overflowing_profile_is_an_error() -> None:
    """Without a norm on the stream w multiplies from sub-layer to sub-layer, faster than exponentially."""
    model = combination(("pre", "admin", "dot", "none"), encoder_layers=30).train()
    with pytest.raises(FloatingPointError, match="ADMIN's profile overflows: --residual-topology pre"):
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
