"""Products in int8, computed in C."""

from typing import Any

import torch
from torch import Tensor

from realformer_nmt.kernels.native.product import NativeProduct, in_panels, padded

GROUP, STEP = 4, 64  # inputs side by side, and those of one register of AMX
ZERO = 128  # 0 as an unsigned number


class NativeInt8(NativeProduct):
    """Product by the formula of Int8 (kernels/int8.py); a row with NaN or infinity becomes NaN."""

    def __init__(self, library: Any, whole: Tensor, scale: Tensor, bias: Tensor | None) -> None:
        """Pack a weight `whole`, outputs x inputs, int8, with the `scale` of each output."""
        weight = padded(whole, STEP)
        start = weight.sum(1, dtype=torch.int32).mul_(-ZERO)
        outputs, inputs = whole.shape
        packed = library.pack8(
            weight=in_panels(weight, GROUP),
            start=start,
            scale=scale.clone(),
            bias=None if bias is None else bias.clone(),
            inputs=inputs,
            outputs=outputs,
        )
        super().__init__(library.linear8, packed, library.tiles)
