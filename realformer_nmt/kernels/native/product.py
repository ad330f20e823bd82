"""Products with a matrix that is packed in panels, by one call of C each."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

PANEL, PART = 64, 16  # outputs side by side, and those of one register
GROUP8, STEP8 = 4, 64  # inputs side by side in int8, and those of one register of AMX
GROUP, STEP = 2, 32  # the same in bf16 and fp32
ZERO = 128  # 0 as an unsigned number


def padded(weight: Tensor, step: int) -> Tensor:
    """Pad a weight to whole panels of outputs, and whole steps of inputs."""
    if weight.dim() != 2 or not weight.numel():
        raise ValueError(f"a weight must be outputs x inputs, at least one of each, not {tuple(weight.shape)}")
    return pad(weight, (0, -weight.size(1) % step, 0, -weight.size(0) % PANEL))


def in_panels(weight: Tensor, group: int, panel: int = PANEL) -> Tensor:
    """Return a padded weight as panels x groups x parts x outputs x inputs; products of a group are summed at once."""
    panels = weight.view(-1, panel // PART, PART, weight.size(1) // group, group)
    return panels.permute(0, 3, 1, 2, 4).contiguous()


def starts(weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return the bias of each output, 0 if there is none, for whole panels; C refuses one of another size."""
    bias = weight.new_zeros(len(weight)) if bias is None else bias
    return pad(bias, (0, -len(weight) % PANEL))


class NativeProduct:
    """Product of rows in fp32 with one weight, which C checks once and stores."""

    def __init__(self, kernel: Callable[..., Tensor], packed: object, tiles: int) -> None:
        """Set the function of the C module, the weight that it has packed, and `tiles`, whether AMX multiplies."""
        self.kernel, self.packed, self.tiles = kernel, packed, tiles

    def __call__(self, x: Tensor) -> Tensor:
        return self.kernel(packed=self.packed, x=x.contiguous(), tiles=self.tiles, threads=torch.get_num_threads())


class NativeInt8(NativeProduct):
    """Product by the formula of Int8 (kernels/int8.py); a row with NaN or infinity becomes NaN."""

    def __init__(self, library: Any, whole: Tensor, scale: Tensor, bias: Tensor | None) -> None:
        """Pack a weight `whole`, outputs x inputs, int8, with the `scale` of each output."""
        weight = padded(whole, STEP8)
        start = weight.sum(1, dtype=torch.int32).mul_(-ZERO)
        outputs, inputs = whole.shape
        packed = library.pack8(
            weight=in_panels(weight, GROUP8),
            start=start,
            scale=scale.clone(),
            bias=None if bias is None else bias.clone(),
            inputs=inputs,
            outputs=outputs,
        )
        super().__init__(library.linear8, packed, library.tiles)


class NativeBf16(NativeProduct):
    """x W^T + b, with x and W rounded to bf16, and sums and b in fp32."""

    def __init__(self, library: Any, weight: Tensor, bias: Tensor | None) -> None:
        panels = in_panels(padded(weight.bfloat16(), STEP), GROUP)
        outputs, inputs = weight.shape
        packed = library.pack16(weight=panels, start=starts(weight, bias), inputs=inputs, outputs=outputs)
        super().__init__(library.linear16, packed, library.tiles)


class NativeFp32(NativeProduct):
    """x W^T + b by AMX, as accurate as other sums in fp32."""

    def __init__(self, library: Any, weight: Tensor, bias: Tensor | None) -> None:
        panels = in_panels(padded(weight, STEP), GROUP, PANEL // 2)
        outputs, inputs = weight.shape
        packed = library.pack32(weight=panels, start=starts(weight, bias), inputs=inputs, outputs=outputs)
        super().__init__(library.linear32, packed, library.tiles)
