"""Products of numbers in bf16 in C."""

from typing import Any

from torch import Tensor
from torch.nn.functional import pad

from realformer_nmt.kernels.native.product import PANEL, NativeProduct, in_panels, padded

GROUP, STEP = 2, 32  # inputs side by side, and those of one register of AMX


class NativeBf16(NativeProduct):
    """x W^T + b, where x and W are rounded to bf16; sums and b are in fp32."""

    def __init__(self, library: Any, weight: Tensor, bias: Tensor | None) -> None:
        start = weight.new_zeros(len(weight)) if bias is None else bias
        panels = in_panels(padded(weight.bfloat16(), STEP), GROUP)
        super().__init__(library.linear16, library.tiles, weight, [panels, pad(start, (0, -len(start) % PANEL))])
