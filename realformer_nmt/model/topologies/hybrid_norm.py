"""HybridNorm: norms of queries, keys and values, and one before the feed-forward block."""

from torch import nn

from realformer_nmt.model.topologies.topology import Norms, Place, PostLN


class HybridNorm(PostLN):
    """x = shortcut(x, att(x)), with normed q, k and v; z = LN(x); x = shortcut(z, ffn(z)); LN(x) after the last layer.

    HybridNorm (Zhuo et al. 2025, 2503.04598), checked against BryceZhuo/HybridNorm (f0dd605), whose norms are all RMS
    and where the heads share their gains. The code is of decoders alone: here encoder-decoder attention is as
    self-attention is, and the LN before the feed-forward block comes after it. Their variant * with one Pre-LN layer is
    left out.
    """

    def head_norms(self, head_width: int, *names: str) -> nn.Module:
        return Norms({name: self.new_norm(head_width) for name in names})

    def norm(self, place: Place) -> nn.Module:
        """Return a norm for the sub-layer before the feed-forward block."""
        is_next = (place.number + 2) % self.stack.sublayers_per_layer == 0
        return self.new_norm(self.width) if is_next else nn.Identity()

    def final_norm(self) -> nn.Module:
        return self.new_norm(self.width)
