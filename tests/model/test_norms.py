"""Norms against their formulas and torch's own; which models hold them, and which checkpoints they leave alone."""

import pytest
import torch
from tiny_models.tiny import build
from torch import Tensor, nn

from realformer_nmt.common.errors import OptionError
from realformer_nmt.model.norms import NORMS, DynamicTanh, LayerNorm, RMSNorm, ScaleNorm
from realformer_nmt.serving import served_models

WIDTH = 16
X = torch.randn(2, 3, WIDTH, generator=torch.Generator().manual_seed(1)) * 4 + 1


def at_random(norm: nn.Module) -> nn.Module:
    torch.manual_seed(2)
    for parameter in norm.parameters():
        nn.init.normal_(parameter)
    return norm


def by_hand(name: str, norm: nn.Module, x: Tensor) -> Tensor:
    if name == "layer":
        return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + 1e-5).sqrt() * norm.weight + (
            norm.bias
        )
    if name == "rms":
        return torch.nn.functional.rms_norm(x, (WIDTH,), norm.weight, 1e-5)
    if name == "scale":
        return torch.nn.functional.normalize(x, dim=-1) * norm.weight
    if name == "dyt":
        power = torch.exp(2 * norm.slope * x)
        return (power - 1) / (power + 1) * norm.weight + norm.bias
    return x


@pytest.mark.parametrize("name", NORMS)
def test_a_norm_is_exact_for_an_input_more_exact_than_its_weights(name: str) -> None:
    """ResiDual's second stream is such an input; a norm returns the type that it gets."""
    norm = at_random(NORMS[name](WIDTH)).half()
    expected = by_hand(name, at_random(NORMS[name](WIDTH)).half().float(), X)
    assert norm(X).dtype is torch.float32
    torch.testing.assert_close(norm(X), expected)
    for kind in (torch.half, torch.bfloat16):
        assert at_random(NORMS[name](WIDTH)).to(kind)(X.to(kind)).dtype is kind


def test_large_inputs_in_fp16_do_not_overflow() -> None:
    for kind in (LayerNorm, RMSNorm, ScaleNorm, DynamicTanh):
        assert kind(WIDTH).half()(X.half() * 5000).isfinite().all()


def test_padding_of_zeros_stays_finite_and_has_gradients() -> None:
    for kind in NORMS.values():
        x = torch.zeros(1, WIDTH, requires_grad=True)
        y = kind(WIDTH)(x)
        y.sum().backward()
        assert y.isfinite().all()
        assert x.grad is not None
        assert x.grad.isfinite().all()


@pytest.mark.parametrize("topology", ["post", "pre", "dual"])
def test_the_default_keeps_fairseqs_names_and_other_norms_stand_in_the_same_places(topology: str) -> None:
    default = {name for name, _ in build(residual_topology=topology).named_parameters()}
    assert default == {name for name, _ in build(residual_topology=topology, norm="layer").named_parameters()}
    rms = {name for name, _ in build(residual_topology=topology, norm="rms").named_parameters()}
    assert default - rms == {name for name in default if name.endswith("norm.bias")}
    none = build(residual_topology=topology, norm="none", layernorm_embedding=True)
    assert not [name for name, _ in none.named_parameters() if "norm" in name]


def test_the_norm_of_the_embeddings_is_of_the_same_kind() -> None:
    assert isinstance(build(norm="scale", layernorm_embedding=True).encoder.layernorm_embedding, ScaleNorm)
    assert isinstance(build(norm="dyt", residual_topology="peri").encoder.topology.embedding_norm, DynamicTanh)


def test_an_unknown_norm_and_a_stream_that_would_overflow_are_refused() -> None:
    with pytest.raises(OptionError, match="--norm batch is not one of layer, rms, scale, dyt, none"):
        build(norm="batch")
    deep = {"residual_scaling": "deepnorm", "encoder_layers": 900}
    with pytest.raises(OptionError, match="post with --norm none never normalises the stream"):
        build(norm="none", **deep)
    build(residual_topology="dlcl_pre", residual_scaling="admin_fixed", decoder_layers=24)  # which norms each layer's


def test_a_family_is_named_with_its_norm() -> None:
    options = {"residual_topology": "pre", "residual_scaling": "none", "score_source": "dot", "score_carry": "none"}
    assert served_models.family({**options, "norm": "layer"}) == "pre_ln"
    assert served_models.family({**options, "norm": "scale"}) == "scale_norm"
    assert served_models.family({**options, "norm": "rms"}) == "pre none dot none rms"
