"""Products of numbers in bf16 in C."""

from typing import Any

from torch import Tensor

from realformer_nmt.kernels.native.product import NativeProduct, in_panels, padded

GROUP = 2


class NativeBf16(NativeProduct):
    """x W^T + b, where x and W are rounded to bf16; sums and b are in fp32."""

    def __init__(self, library: Any, weight: Tensor, bias: Tensor | None) -> None:
        start = weight.new_zeros(len(weight)) if bias is None else bias
        rows = in_panels(padded(weight.bfloat16(), GROUP), GROUP)
        super().__init__(library.linear16, weight, [rows, padded(start[:, None], 1)])
