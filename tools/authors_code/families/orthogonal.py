"""Orthogonal residual update: their sum in place of ours over linear branches, Pre-LN as in their models."""

from pathlib import Path
from unittest import mock

from same_weights.draws import Outputs
from same_weights.linear_stack import linear
from torch import Tensor

from authors_code.record import Source, load
from realformer_nmt.model.topologies.shortcuts import Orthogonal

FILE = "src/ortho_residual/residual.py"
SOURCE = Source("BootsofLagrangian/ortho-residual", "4f663d3d51f16f929c751ac94b5a60956d111f55", FILE)


def run_code(checkout: Path) -> Outputs:
    code = load(checkout / FILE)

    def added(_shortcut: Orthogonal, x: Tensor, branch: Tensor) -> Tensor:
        return code.connect(x, branch, method="orthogonal", orthogonal_method="feature")

    with mock.patch.object(Orthogonal, "forward", added):
        return linear("orthogonal")
