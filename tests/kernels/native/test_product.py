"""Products in C: in int8 against whole numbers of numpy, in bf16 and fp32 against numpy's in fp64."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from realformer_nmt.kernels import precision
from realformer_nmt.kernels.int8 import rounded
from realformer_nmt.kernels.native.library import HIDDEN, instructions, library
from realformer_nmt.kernels.native.product import NativeBf16, NativeFp32, NativeInt8, NativeProduct

FEW = 24  # rows up to which fp32 splits nothing
KERNELS: dict[str, Callable[[Tensor, Tensor | None], NativeProduct]] = {
    "int8": lambda weight, bias: NativeInt8(library(), *rounded(weight), bias),
    "bf16": lambda weight, bias: NativeBf16(library(), weight, bias),
    "fp32": lambda weight, bias: NativeFp32(library(), weight, bias),
}
HERE = {
    "int8": library() is not None,
    "bf16": library() is not None and "avx512_bf16" in instructions(),
    "fp32": library() is not None and bool(library().tiles),
}


def needs(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not HERE[name], reason="no kernels were built, or the processor has no such products")


each_kernel = pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in KERNELS])
each_form = pytest.mark.parametrize(
    ("name", "tiles"),  # tiles: by AMX where there is one
    [
        *(pytest.param(name, tiles, marks=needs(name)) for name in ("int8", "bf16") for tiles in (True, False)),
        pytest.param("fp32", True, marks=needs("fp32")),
    ],
)
each_size = pytest.mark.parametrize(
    ("inputs", "outputs"), [(1, 1), (3, 16), (64, 64), (67, 65), (130, 15), (2112, 129)]
)
each_number_of_rows = pytest.mark.parametrize("rows", [1, 2, 6, 7, 24, 25, 45, 300])


def product(name: str, weight: Tensor, bias: Tensor | None = None, tiles: bool = True) -> NativeProduct:
    layer = KERNELS[name](weight, bias)
    layer.tiles = layer.tiles and tiles
    return layer


def draw(rows: int, inputs: int, outputs: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return rows of very different sizes, a weight and a bias."""
    chance = torch.Generator().manual_seed(rows + inputs)
    x, weight, bias = (torch.randn(*size, generator=chance) for size in ((rows, inputs), (outputs, inputs), (outputs,)))
    return x * torch.logspace(-12, 12, rows)[:, None], weight, bias


def error(output: Tensor, x: Tensor, weight: Tensor, bias: Tensor) -> NDArray[np.float64]:
    """Return the error of each sum, as a share of the sum of its terms' sizes."""
    exact_x, right, start = (each.double().numpy() for each in (x, weight, bias))
    return np.abs(output.numpy() - (exact_x @ right.T + start)) / (np.abs(exact_x) @ np.abs(right).T + np.abs(start))


def whole_sums(x: Tensor, weight: Tensor) -> NDArray[np.float64]:
    """Return the product of numbers that are rounded from fp32, so that a half goes the same way."""
    rows, columns = x.numpy(), weight.numpy()
    largest, most = (np.abs(matrix).max(1, keepdims=True) for matrix in (rows, columns))
    quantised, right = np.rint(rows * (np.float32(127) / largest)), np.rint(columns / (most / np.float32(127)))
    return largest.astype(np.float64) / 127 * (quantised.astype(np.int64) @ right.astype(np.int64).T) * most.T / 127


@needs("int8")
@each_size
@each_number_of_rows
def test_sums_in_int8_are_exact(rows: int, inputs: int, outputs: int) -> None:
    x, weight, bias = draw(rows, inputs, outputs)
    exact = whole_sums(x, weight) + bias.double().numpy()
    np.testing.assert_allclose(product("int8", weight, bias)(x), exact, rtol=2e-6, atol=1e-6)


@needs("bf16")
@pytest.mark.parametrize("tiles", [True, False])
@each_size
@each_number_of_rows
def test_bf16_rounds_only_the_factors(rows: int, inputs: int, outputs: int, tiles: bool) -> None:
    """A sum in bf16 would be off by 0.4 %."""
    x, weight, bias = draw(rows, inputs, outputs)
    wrong = error(product("bf16", weight, bias, tiles)(x), x.bfloat16(), weight.bfloat16(), bias)
    assert wrong.max() < 1e-6 * max(1, inputs**0.5 / 4)


@needs("fp32")
@each_size
@each_number_of_rows
def test_fp32_is_off_by_no_more_than_torchs_sums(rows: int, inputs: int, outputs: int) -> None:
    x, weight, bias = draw(rows, inputs, outputs)
    outputs_of_both = product("fp32", weight, bias)(x), torch.nn.functional.linear(x, weight, bias)
    wrong, torchs = (error(each, x, weight, bias) for each in outputs_of_both)
    assert wrong.max() < 4e-7
    single = rows <= FEW or inputs == 1  # one product is no sum: chance says whose is rounded twice
    assert wrong.mean() < (3 if single else 1) * torchs.mean() + 1e-9


@needs("fp32")
def test_numbers_of_which_only_some_digits_matter_keep_them_all() -> None:
    """Each row is one number with all of its 24 digits, times 1."""
    x = torch.linspace(1, 2, 12345)[:, None]
    torch.testing.assert_close(product("fp32", torch.ones(1, 1))(x), x, rtol=0, atol=0)


@each_kernel
@each_number_of_rows
def test_threads_change_no_bit_and_in_int8_tiles_neither(name: str, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, weight, bias = draw(rows, 130, 129)
    output = product(name, weight, bias)(x)
    assert name != "int8" or torch.equal(product(name, weight, bias, tiles=False)(x), output)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    assert torch.equal(product(name, weight, bias)(x), output)


@needs("int8")
@pytest.mark.parametrize("tiles", [True, False])
@pytest.mark.parametrize("value", [127, -127])
def test_the_largest_sums_do_not_overflow(value: int, tiles: bool) -> None:
    weight, x = torch.full((16, 4096), 127.0), torch.full((7, 4096), float(value))
    assert torch.equal(product("int8", weight, tiles=tiles)(x), torch.full((7, 16), 127.0 * value * 4096))


@each_form
@pytest.mark.parametrize("rows", [8, 40])
@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_a_row_that_is_no_number_spoils_no_other(name: str, tiles: bool, rows: int, bad: float) -> None:
    x, weight = torch.randn(rows, 70), torch.randn(33, 70)
    spoilt = x.clone()
    spoilt[7, 69] = bad
    layer, rest = product(name, weight, tiles=tiles), torch.arange(rows) != 7
    output = layer(spoilt)
    assert not output[7].isfinite().any()
    assert torch.equal(output[rest], layer(x)[rest])
    assert name == "fp32" or torch.equal(output[rest], torch.cat([layer(row[None]) for row in x[rest]]))


@each_kernel
@pytest.mark.parametrize("rows", [3, 40])
@pytest.mark.parametrize("size", [0.0, 1e-30, 1e38])
def test_rows_of_any_size(name: str, size: float, rows: int) -> None:
    x, weight, bias = torch.full((rows, 2), size), torch.ones(2, 2), torch.tensor([0.5, -0.5])
    rounded_x = x.bfloat16().float() if name == "bf16" else x
    torch.testing.assert_close(product(name, weight, bias)(x), 2 * rounded_x + bias)


@needs("int8")
def test_the_shape_stays() -> None:
    layer = product("int8", torch.randn(5, 8))
    x = torch.randn(3, 8, 4).transpose(1, 2)  # its numbers do not stand side by side
    torch.testing.assert_close(layer(x), layer(x.contiguous().view(12, 8)).view(3, 4, 5))
    assert layer(torch.randn(0, 8)).shape == (0, 5)


@needs("int8")
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
        product("int8", torch.randn(5, 8))(x)


@needs("int8")
def test_a_weight_of_another_kernel_is_refused() -> None:
    layer = product("int8", torch.randn(5, 8))
    layer.packed = object()
    with pytest.raises(TypeError, match=r"^linear8: packed must be what pack8 returns$"):
        layer(torch.ones(2, 8))


@each_kernel
def test_a_kernel_is_taken_where_it_can_be(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    form, arguments = precision.FORMS[name], (torch.ones(2, 2), None)
    assert isinstance(form(*arguments), NativeProduct)
    monkeypatch.setenv(HIDDEN, "0")
    assert not isinstance(form(*arguments), NativeProduct)
    monkeypatch.delenv(HIDDEN)
    monkeypatch.setattr(precision, "instructions", lambda: {"avx512_vnni"})
    assert isinstance(form(*arguments), NativeProduct) == (name != "bf16")
