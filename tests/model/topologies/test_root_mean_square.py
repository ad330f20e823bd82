"""The norm by root mean square against torch's."""

import torch
from torch.nn import functional

from realformer_nmt.model.topologies.root_mean_square import rms_normed


def test_it_is_torchs() -> None:
    x = 3 * torch.randn(2, 5, 8)
    torch.testing.assert_close(rms_normed(x), functional.rms_norm(x, (8,), eps=1e-5))


def test_squares_beyond_half_precision_stay_finite() -> None:
    x = torch.full((1, 4), 3e4, dtype=torch.float16)
    assert torch.equal(rms_normed(x), torch.ones_like(x))
