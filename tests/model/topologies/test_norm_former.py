"""NormFormer against its formula, in a decoder with encoder-decoder attention too, and against Pre-LN."""

import torch

from realformer_nmt.model.topologies.norm_former import HeadGains


def test_a_gain_is_of_a_head() -> None:
    gains, heads = HeadGains(2), torch.randn(2, 3, 8)
    with torch.no_grad():
        gains.gains.copy_(torch.tensor([2.0, -3.0]))
    expected = torch.cat([2 * heads[..., :4], -3 * heads[..., 4:]], -1)
    torch.testing.assert_close(gains(heads, heads), expected)
