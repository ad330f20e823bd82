"""Weights laid out for decoding, as for an Intel or as for another processor: products stay what they were."""

import copy
from collections.abc import Callable

import pytest
import torch
from formulas.prepared_beams import beams_before_and_after
from tiny_models.representatives import every_family
from tiny_models.tiny import PREVIOUS, SOURCE, build, opened
from torch import nn

from realformer_nmt.kernels import linear, matmul, precision
from realformer_nmt.model.presets import FAMILIES


@pytest.fixture(params=[True, False], ids=["intel", "other"])
def processor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matmul, "_mkl_leads", lambda: request.param)


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("outputs", [7, precision.WIDE // 64])
@pytest.mark.parametrize("bias", [True, False])
def test_the_product_is_torchs(outputs: int, bias: bool) -> None:
    layer, x = linear.linear(64, outputs, bias), torch.randn(3, 2, 64)
    layer.make_generation_fast_()
    with torch.no_grad():
        product = layer(x)
    torch.testing.assert_close(product, torch.nn.functional.linear(x, layer.weight, layer.bias), rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("processor")
@every_family
def test_beams_are_the_same(family: str) -> None:
    model = opened(build(**FAMILIES[family])).eval()
    before, after = beams_before_and_after(model)
    assert after.tokens == before.tokens
    torch.testing.assert_close(after.scores, before.scores)


def replace(weight: nn.Parameter) -> None:
    weight.data = weight.data * 3


WAYS_TO_WRITE: dict[str, Callable[[nn.Parameter], object]] = {
    "in place": lambda weight: weight.mul_(3),
    "to its data": lambda weight: weight.data.mul_(3),
    "other data": replace,
    "a row of its data": lambda weight: weight.data[0].fill_(3),
}


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("way", WAYS_TO_WRITE)
def test_weights_changed_after_they_were_laid_out_count(way: str) -> None:
    model = build().eval()
    model.make_generation_fast_()
    with torch.no_grad():
        before, _ = model(SOURCE, None, PREVIOUS)
        WAYS_TO_WRITE[way](model.decoder.layers[0].fc1.weight)
        WAYS_TO_WRITE[way](model.decoder.output_projection.weight)
        changed, _ = model(SOURCE, None, PREVIOUS)
    assert not torch.allclose(before, changed)
    afresh = build().eval()
    afresh.load_state_dict(model.state_dict())
    torch.testing.assert_close(changed, afresh(SOURCE, None, PREVIOUS)[0])


@pytest.mark.usefixtures("processor")
def test_a_bias_changed_after_it_was_laid_out_counts() -> None:
    layers, x = [linear.linear(64, 7) for _ in range(3)], torch.randn(2, 64)
    joint = linear.Joint(*layers)
    joint.lay_out()
    with torch.no_grad():
        before = joint.outputs(x)
        layers[1].bias.data += 1
        changes = [one - other for one, other in zip(joint.outputs(x), before, strict=True)]
    for change, expected in zip(changes, (0.0, 1.0, 0.0), strict=True):
        torch.testing.assert_close(change, torch.full((2, 7), expected), rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", precision.supported())
def test_a_model_that_is_loaded_in_inference_mode_decodes(name: str) -> None:
    """Its weights have no version, so a change that is made in this mode must count without one."""
    expected, x = linear.linear(64, 7), torch.randn(3, 64)
    with torch.inference_mode():
        layer = linear.linear(64, 7)
        layer.make_generation_fast_(precision=name)
        layer(x)
        if name == precision.EXACT:
            layer.load_state_dict(expected.state_dict())
            torch.testing.assert_close(layer(x), expected(x))


@pytest.mark.parametrize("prepared", [True, False])
def test_a_copied_layer_has_weights_of_its_own(prepared: bool) -> None:
    layer, x = linear.linear(64, 7), torch.randn(3, 64)
    if prepared:
        layer.make_generation_fast_()
    other = copy.deepcopy(layer)
    assert type(other.state_dict()["weight"]) is torch.Tensor
    with torch.no_grad():
        expected = layer(x)
        layer.weight.zero_()
        torch.testing.assert_close(other(x), expected)
        other.weight.zero_()
        torch.testing.assert_close(other(x), other.bias.expand(3, 7))


@pytest.mark.filterwarnings("ignore")  # torch announces another library for it
def test_quantize_dynamic_quantises_every_product_as_it_does_torchs() -> None:
    model = build().eval()
    quantised = torch.ao.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)
    plain = nn.Linear(8, 12)
    plain.load_state_dict(model.encoder.layers[0].fc1.state_dict())
    reference = torch.ao.quantization.quantize_dynamic(nn.Sequential(plain), {nn.Linear}, dtype=torch.qint8)
    x = torch.randn(3, 8)
    assert torch.equal(quantised.encoder.layers[0].fc1(x), reference(x))
    kinds = {type(quantised.get_submodule(n)) for n, m in model.named_modules() if isinstance(m, nn.Linear)}
    assert kinds == {type(reference[0])}
    exact, rounded = (each(SOURCE, None, PREVIOUS)[0] for each in (model, quantised))
    assert 0 < (exact - rounded).abs().max() < 0.1 * exact.abs().max()
