"""The product of numbers in bf16 in C, against numpy's in fp64."""

import numpy as np
import pytest
import torch
from torch import Tensor

from realformer_nmt.kernels import bf16
from realformer_nmt.kernels.native.library import HIDDEN, library
from realformer_nmt.kernels.native.linear16 import NativeBf16
from realformer_nmt.kernels.processor import instructions

here = library() is not None and "avx512_bf16" in instructions()
needs_kernel = pytest.mark.skipif(not here, reason="no kernels were built, or the processor has no avx512_bf16")


def product(weight: Tensor, bias: Tensor | None = None, tiles: bool = True) -> NativeBf16:
    """tiles: by AMX where there is one."""
    layer = NativeBf16(library(), weight, bias)
    layer.tiles = layer.tiles and tiles
    return layer


@needs_kernel
@pytest.mark.parametrize("tiles", [True, False])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("rows", [1, 2, 5, 6, 7, 45, 300])
@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (3, 16), (64, 64), (67, 65), (130, 15), (2112, 129)])
def test_only_the_factors_are_rounded(
    rows: int, inputs: int, outputs: int, threads: int, tiles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sum in bf16 would be off by 0.4 %."""
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    chance = torch.Generator().manual_seed(rows + inputs)
    x, weight, bias = (torch.randn(*size, generator=chance) for size in ((rows, inputs), (outputs, inputs), (outputs,)))
    x *= torch.logspace(-12, 12, rows)[:, None]
    rounded_x, right = (each.bfloat16().double().numpy() for each in (x, weight))
    terms = np.abs(rounded_x) @ np.abs(right).T + np.abs(bias.numpy())
    wrong = np.abs(product(weight, bias, tiles)(x).numpy() - (rounded_x @ right.T + bias.double().numpy())) / terms
    assert wrong.max() < 1e-6 * max(1, inputs**0.5 / 4)


@needs_kernel
@pytest.mark.parametrize("tiles", [True, False])
@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_a_row_that_is_no_number_spoils_no_other(bad: float, tiles: bool) -> None:
    x, weight = torch.randn(40, 70), torch.randn(33, 70)
    spoilt = x.clone()
    spoilt[7, 69] = bad
    layer = product(weight, tiles=tiles)
    rows, alone = layer(spoilt), torch.cat([layer(row[None]) for row in x])
    assert not rows[7].isfinite().any()
    rest = torch.arange(40) != 7
    assert torch.equal(rows[rest], alone[rest])


@needs_kernel
@pytest.mark.parametrize("size", [0.0, 1e-30, 1e38])
def test_rows_of_any_size(size: float) -> None:
    x, weight, bias = torch.full((3, 2), size), torch.ones(2, 2), torch.tensor([0.5, -0.5])
    torch.testing.assert_close(product(weight, bias)(x), (2 * x.bfloat16().float()[:, :1] + bias))


@needs_kernel
def test_it_is_taken_where_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bf16, "instructions", lambda: {"avx512_bf16"})
    assert isinstance(bf16.bf16(torch.ones(2, 2), None), NativeBf16)
    monkeypatch.setattr(bf16, "instructions", lambda: {"avx512_vnni"})
    assert isinstance(bf16.bf16(torch.ones(2, 2), None), bf16.Bf16)
    monkeypatch.setattr(bf16, "instructions", lambda: {"avx512_bf16"})
    monkeypatch.setenv(HIDDEN, "0")
    assert isinstance(bf16.bf16(torch.ones(2, 2), None), bf16.Bf16)
