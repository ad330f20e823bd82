"""Products in bf16, computed in C."""

from typing import Any

from torch import Tensor

from realformer_nmt.kernels.native.product import NativeProduct, in_panels, padded, starts

GROUP, STEP = 2, 32  # inputs side by side, and those of one register of AMX


class NativeBf16(NativeProduct):
    """x W^T + b, with x and W rounded to bf16, and sums and b in fp32."""

    def __init__(self, library: Any, weight: Tensor, bias: Tensor | None) -> None:
        panels = in_panels(padded(weight.bfloat16(), STEP), GROUP)
        outputs, inputs = weight.shape
        packed = library.pack16(weight=panels, start=starts(weight, bias), inputs=inputs, outputs=outputs)
        super().__init__(library.linear16, packed, library.tiles)
