"""Products in fp32, computed in C, for processors with AMX."""

from typing import Any

from torch import Tensor

from realformer_nmt.kernels.native.product import PANEL, NativeProduct, in_panels, padded, starts

GROUP, STEP = 2, 32  # inputs side by side, and those of one register of AMX


class NativeFp32(NativeProduct):
    """x W^T + b, as accurate as other sums in fp32."""

    def __init__(self, library: Any, weight: Tensor, bias: Tensor | None) -> None:
        panels = in_panels(padded(weight, STEP), GROUP, PANEL // 2)
        outputs, inputs = weight.shape
        packed = library.pack32(weight=panels, start=starts(weight, bias), inputs=inputs, outputs=outputs)
        super().__init__(library.linear32, packed, library.tiles)
