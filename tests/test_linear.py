"""Weights laid out for decoding, as for an Intel or as for another processor: products stay what they were."""

import pytest
import torch
from fairseq.sequence_generator import SequenceGenerator
from tiny import COMBINATIONS, PAD, PREVIOUS, SOURCE, build, combination, dictionary

from realformer_nmt import linear, product


@pytest.fixture(params=[True, False], ids=["intel", "other"])
def processor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product, "_mkl_is_at_home", lambda: request.param)


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("outputs", [7, linear.WIDE // 64])
@pytest.mark.parametrize("bias", [True, False])
def test_the_product_is_torchs(outputs: int, bias: bool) -> None:
    layer, x = linear.Linear(64, outputs, bias=bias), torch.randn(3, 2, 64)
    layer.make_generation_fast_()
    with torch.no_grad():
        found = layer(x)
    torch.testing.assert_close(found, torch.nn.functional.linear(x, layer.weight, layer.bias), rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("parts", [parts for parts in COMBINATIONS if parts[1] == "none"][::7], ids="-".join)
def test_beams_are_the_same(parts: tuple[str, str, str, str]) -> None:
    model = combination(parts).eval()
    sample = {"net_input": {"src_tokens": SOURCE, "src_lengths": SOURCE.ne(PAD).sum(1)}}
    search = SequenceGenerator([model], dictionary(), beam_size=3, max_len_b=8)
    before = search.generate([model], sample)
    model.make_generation_fast_(need_attn=False)
    for one, other in zip(before, search.generate([model], sample), strict=True):
        assert [beam["tokens"].tolist() for beam in one] == [beam["tokens"].tolist() for beam in other]
        torch.testing.assert_close(*(torch.stack([b["score"] for b in beams]) for beams in (one, other)))


@pytest.mark.usefixtures("processor")
def test_weights_changed_after_they_were_laid_out_count() -> None:
    model = build().eval()
    model.make_generation_fast_()
    with torch.no_grad():
        model.decoder.layers[0].fc1.weight.mul_(3)
        changed, _ = model(SOURCE, None, PREVIOUS)
    afresh = build().eval()
    afresh.load_state_dict(model.state_dict())
    torch.testing.assert_close(changed, afresh(SOURCE, None, PREVIOUS)[0])
