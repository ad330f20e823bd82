"""Products in other precisions, against what their formulas say, and refused where they are not to be had."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from realformer_nmt.common.errors import OptionError
from realformer_nmt.kernels import int8, linear, precision
from realformer_nmt.kernels.native.library import HIDDEN


def eight_bits(x: Tensor, weight: Tensor) -> NDArray[np.float64]:
    """Multiply row by row, rounded to whole numbers of eight bits."""
    rows, columns = (tensor.numpy().astype(np.float64) for tensor in (x, weight))
    scales, other = (np.abs(matrix).max(1, keepdims=True) / 127 for matrix in (rows, columns))
    whole = np.rint(rows / scales).astype(np.int64) @ np.rint(columns / other).astype(np.int64).T
    return scales * whole * other.T


needs_int8 = pytest.mark.skipif("int8" not in precision.supported(), reason="the processor has no products in int8")
needs_bf16 = pytest.mark.skipif("bf16" not in precision.supported(), reason="the processor has no products in bf16")


@needs_int8
@pytest.mark.parametrize("rows", [1, 4, 40])
def test_int8_is_the_product_of_rounded_rows(rows: int) -> None:
    chance = torch.Generator().manual_seed(rows)
    x, weight, bias = (torch.randn(*shape, generator=chance) for shape in ((rows, 96), (33, 96), (33,)))
    product = int8.Int8(weight, bias)((x * 10)[None])[0]
    np.testing.assert_allclose(product, eight_bits(x * 10, weight) + bias.numpy(), rtol=1e-5, atol=2e-4)


@needs_int8
@pytest.mark.parametrize("hidden", ["", "0"])
def test_a_row_in_int8_depends_on_no_other(hidden: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HIDDEN, hidden)
    x, layer = torch.randn(3, 64), linear.linear(64, 20)
    layer.make_generation_fast_(precision="int8")
    with torch.no_grad():
        alone = torch.cat([layer(row[None]) for row in x])
        assert torch.equal(layer(torch.cat([x, 1000 * torch.randn(9, 64)]))[:3], alone)
        spoilt = layer(torch.cat([x, torch.full((1, 64), torch.nan), torch.full((1, 64), torch.inf)]))
    assert torch.equal(spoilt[:3], alone)
    assert not spoilt[3:].isfinite().any()


@needs_int8
@pytest.mark.parametrize("hidden", ["", "0"])
@pytest.mark.parametrize("rows", [2, 40])
def test_a_row_of_zeros_gives_the_bias(rows: int, hidden: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HIDDEN, hidden)
    product = precision.FORMS["int8"](torch.randn(9, 32), torch.arange(9.0))
    assert torch.equal(product(torch.zeros(rows, 32)), torch.arange(9.0).expand(rows, 9))


@needs_int8
@pytest.mark.parametrize("instructions", ["AVX512_CORE_VNNI", "AVX2_VNNI"])
def test_onednn_has_instructions_for_it_without_amx_too(instructions: str) -> None:
    """It says what it runs. Of a product that it does not have it runs its reference, some 5,000 times as slow."""
    rows = "torch.ones(64, 64)"
    words = [
        sys.executable,
        "-c",
        f"import torch; from realformer_nmt.kernels.int8 import Int8; Int8({rows}, None)({rows})",
    ]
    variables = {"ONEDNN_VERBOSE": "1", "ONEDNN_MAX_CPU_ISA": instructions}
    output = subprocess.run(words, env=os.environ | variables, capture_output=True, text=True, check=True).stdout
    (product,) = (line for line in output.splitlines() if ",exec,cpu,matmul," in line)
    assert ",ref" not in product


@needs_bf16
@pytest.mark.parametrize("hidden", ["", "0"])
def test_bf16_rounds_the_factors_and_at_most_the_result(hidden: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HIDDEN, hidden)
    x, weight, bias = torch.randn(5, 64), torch.randn(20, 64), torch.randn(20)
    expected = x.bfloat16().double() @ weight.bfloat16().double().T + bias
    torch.testing.assert_close(precision.FORMS["bf16"](weight, bias)(x).double(), expected, rtol=2**-8, atol=2**-7)


@pytest.mark.parametrize("name", precision.supported())
def test_wide_outputs_come_in_pieces_and_make_the_whole(name: str) -> None:
    layer, x = linear.linear(16, linear.PIECE + 40), torch.randn(3, 16)
    layer.make_generation_fast_(precision=name)
    with torch.no_grad():
        pieces = list(linear.pieces_of(layer, x))
        assert [piece.size(1) for piece in pieces] == [linear.PIECE, 40]
        assert torch.equal(torch.cat(pieces, 1), layer(x))
        exact = torch.nn.functional.linear(x, layer.weight, layer.bias)
    torch.testing.assert_close(layer(x).detach(), exact.detach(), rtol=0, atol=0.05)


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        ("sse4_2 avx2 fma", {"fp32"}),  # Haswell
        ("avx2 avx512f avx512_vnni", {"fp32", "int8"}),  # Cascade Lake
        ("avx2 avx_vnni", {"fp32", "int8"}),  # Alder Lake
        ("avx2 avx512f avx512_vnni avx512_bf16", {"fp32", "bf16", "int8"}),  # Zen 4
        ("", {"fp32"}),
    ],
)
def test_precisions_follow_from_the_processors_instructions(
    flags: str, names: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precision, "instructions", lambda: frozenset(flags.split()))
    assert set(precision.supported()) == names


def test_torch_finds_the_instructions_that_are_found_here() -> None:
    """No test above may be left out on a processor that could run it."""
    assert ("int8" in precision.supported()) >= torch.cpu._is_vnni_supported()
    assert ("bf16" in precision.supported()) >= torch.cpu._is_avx512_bf16_supported()


def test_what_the_processor_lacks_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "supported", lambda: ("fp32", "bf16"))
    with pytest.raises(OptionError, match=r"int8 needs a processor with avx512_vnni or .*; this one .* fp32, bf16$"):
        linear.linear(8, 8).make_generation_fast_(precision="int8")


def test_without_onednn_no_precision_is_silently_fp32(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    layer = linear.linear(8, 8)
    for name in ("bf16", "int8"):
        with pytest.raises(OptionError, match=rf"^decoding in {name} needs oneDNN, which this torch lacks: leave .*"):
            layer.make_generation_fast_(precision=name)
    layer.make_generation_fast_()
    assert precision.supported() == ("fp32",)


def test_a_model_that_is_cast_already_has_its_precision() -> None:
    with pytest.raises(OptionError, match=r"^a model in torch.bfloat16 on cpu cannot decode in int8: .*leave out"):
        linear.linear(8, 8).bfloat16().make_generation_fast_(precision="int8")
