"""The product in fp32 by AMX, against numpy's in fp64 and beside torch's."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from realformer_nmt.kernels import precision
from realformer_nmt.kernels.native.library import HIDDEN, library
from realformer_nmt.kernels.native.linear32 import NativeFp32

FEW = 24  # rows up to which nothing is split
here = library() is not None and bool(library().tiles)
needs_kernel = pytest.mark.skipif(not here, reason="no kernels were built, or the processor has no AMX")


def product(weight: Tensor, bias: Tensor | None = None) -> NativeFp32:
    return NativeFp32(library(), weight, bias)


def error(output: Tensor, x: Tensor, weight: Tensor, bias: Tensor) -> NDArray[np.float64]:
    """Return the error of each sum, as a share of the sum of its terms' sizes."""
    exact_x, right, start = (each.double().numpy() for each in (x, weight, bias))
    return np.abs(output.numpy() - (exact_x @ right.T + start)) / (np.abs(exact_x) @ np.abs(right).T + np.abs(start))


@needs_kernel
@pytest.mark.parametrize("rows", [1, 2, 6, 7, 24, 25, 33, 300])
@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (3, 16), (64, 64), (67, 65), (130, 15), (2112, 129)])
def test_it_is_off_by_no_more_than_sums_in_fp32(
    rows: int, inputs: int, outputs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = torch.Generator().manual_seed(rows + inputs)
    x, weight, bias = (torch.randn(*size, generator=chance) for size in ((rows, inputs), (outputs, inputs), (outputs,)))
    x *= torch.logspace(-12, 12, rows)[:, None]
    output = product(weight, bias)(x)
    wrong, torchs = (error(each, x, weight, bias) for each in (output, torch.nn.functional.linear(x, weight, bias)))
    assert wrong.max() < 4e-7
    assert wrong.mean() < (1 if rows > FEW else 3) * torchs.mean() + 1e-9
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    assert torch.equal(product(weight, bias)(x), output)


@needs_kernel
def test_numbers_of_which_only_some_digits_matter_keep_them_all() -> None:
    """Each row is one number with all of its 24 digits, times 1."""
    x = torch.linspace(1, 2, 12345)[:, None]
    torch.testing.assert_close(product(torch.ones(1, 1))(x), x, rtol=0, atol=0)


@needs_kernel
@pytest.mark.parametrize("rows", [3, 40])
@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_a_row_that_is_no_number_spoils_no_other(bad: float, rows: int) -> None:
    x, weight = torch.randn(rows, 70), torch.randn(33, 70)
    spoilt = x.clone()
    spoilt[2, 69] = bad
    output, rest = product(weight)(spoilt), torch.arange(rows) != 2
    assert not output[2].isfinite().any()
    assert torch.equal(output[rest], product(weight)(x)[rest])


@needs_kernel
@pytest.mark.parametrize("rows", [3, 40])
@pytest.mark.parametrize("size", [0.0, 1e-30, 1e38])
def test_rows_of_any_size(size: float, rows: int) -> None:
    x, weight, bias = torch.full((rows, 2), size), torch.ones(2, 2), torch.tensor([0.5, -0.5])
    torch.testing.assert_close(product(weight, bias)(x), 2 * x + bias)


@needs_kernel
def test_it_is_taken_where_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(precision.fp32(torch.ones(2, 2), None), NativeFp32)
    monkeypatch.setenv(HIDDEN, "0")
    assert isinstance(precision.fp32(torch.ones(2, 2), None), precision.Fp32)
