"""The product in eight bits in C, against whole numbers of numpy."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from realformer_nmt.kernels.int8 import rounded
from realformer_nmt.kernels.native.library import library
from realformer_nmt.kernels.native.linear8 import NativeInt8

pytestmark = pytest.mark.skipif(library() is None, reason="no kernels were built, or the processor has no avx512_vnni")


def product(weight: Tensor, bias: Tensor | None = None, tiles: bool = True) -> NativeInt8:
    """tiles: by AMX where there is one."""
    layer = NativeInt8(library(), *rounded(weight), bias)
    layer.tiles = layer.tiles and tiles
    return layer


def expected(x: Tensor, weight: Tensor) -> NDArray[np.float64]:
    """Rounded from fp32, so that a half goes the same way, and summed in whole numbers."""
    rows, columns = x.numpy(), weight.numpy()
    largest, most = (np.abs(matrix).max(1, keepdims=True) for matrix in (rows, columns))
    quantised, right = np.rint(rows * (np.float32(127) / largest)), np.rint(columns / (most / np.float32(127)))
    return largest.astype(np.float64) / 127 * (quantised.astype(np.int64) @ right.astype(np.int64).T) * most.T / 127


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("rows", [1, 2, 5, 6, 7, 45, 300])
@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (3, 16), (64, 64), (67, 65), (130, 15), (2112, 129)])
def test_sums_are_exact(rows: int, inputs: int, outputs: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    chance = torch.Generator().manual_seed(rows + inputs)
    x, weight, bias = (torch.randn(*size, generator=chance) for size in ((rows, inputs), (outputs, inputs), (outputs,)))
    x *= torch.logspace(-12, 12, rows)[:, None]
    output = product(weight, bias)(x)
    exact = expected(x, weight) + bias.double().numpy()
    np.testing.assert_allclose(output, exact, rtol=2e-6, atol=1e-6)
    assert torch.equal(product(weight, bias, tiles=False)(x), output)


@pytest.mark.parametrize("value", [127, -127])
def test_the_largest_sums_do_not_overflow(value: int) -> None:
    weight, x = torch.full((16, 4096), 127.0), torch.full((7, 4096), float(value))
    for tiles in (True, False):
        assert torch.equal(product(weight, tiles=tiles)(x), torch.full((7, 16), 127.0 * value * 4096))


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_a_row_that_is_no_number_is_nan_and_spoils_no_other(bad: float) -> None:
    x, weight = torch.randn(40, 70), torch.randn(33, 70)
    spoilt = x.clone()
    spoilt[7, 69] = bad
    rows, alone = product(weight)(spoilt), torch.cat([product(weight)(row[None]) for row in x])
    assert rows[7].isnan().all()
    rest = torch.arange(40) != 7
    assert torch.equal(rows[rest], alone[rest])


@pytest.mark.parametrize("size", [0.0, 1e-45, 1e-38, 3e38])
def test_rows_of_any_size(size: float) -> None:
    x, weight, bias = torch.full((3, 8), size), torch.ones(2, 8), torch.tensor([0.5, -0.5])
    torch.testing.assert_close(product(weight, bias)(x), (8 * size + bias).expand(3, 2))


def test_the_shape_stays() -> None:
    layer = product(torch.randn(5, 8))
    x = torch.randn(3, 8, 4).transpose(1, 2)  # its numbers do not stand side by side
    torch.testing.assert_close(layer(x), layer(x.contiguous().view(12, 8)).view(3, 4, 5))
    assert layer(torch.randn(0, 8)).shape == (0, 5)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (torch.ones(2, 7), "x must be 2 x 8, not 2 x 7"),
        (torch.ones(2, 8).double(), "x must be a dense tensor of float32 .*, not torch.strided, torch.float64 on cpu"),
        (torch.ones(2, 8, device="meta"), "x must be a dense tensor .*, not torch.strided, torch.float32 on meta"),
    ],
)
def test_other_rows_are_refused(x: Tensor, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=rf"^linear8: {message}$"):
        product(torch.randn(5, 8))(x)


def test_a_weight_of_another_kernel_is_refused() -> None:
    layer = product(torch.randn(5, 8))
    layer.packed = object()
    with pytest.raises(TypeError, match=r"^linear8: packed must be what pack8 returns$"):
        layer(torch.ones(2, 8))
