"""The base class of score sources.

`source(x, query, seen)` returns raw scores of shape (B or 1) x H x T x S, never masked: x is B x T x C, query is
B x H x T x D (None unless the source has `queries`), seen has the keys and the positions of both.
"""

from torch import Tensor, nn

from realformer_nmt.common.errors import OptionError
from realformer_nmt.model.attention.cache import KeysValues


class ScoreSource(nn.Module):
    """Base of all score sources; `length` is the longest sequence that its tables have room for."""

    queries = False  # whether the source needs them
    keys = False
    of_memory = False  # whether encoder-decoder attention has it, too
    tabled = True  # whether the source has tables by position

    def __init__(self, heads: int, head_width: int, length: int) -> None:
        super().__init__()
        self.heads, self.head_width, self.length = heads, head_width, length

    def layout(self, _x: Tensor) -> Tensor | None:
        """Return what an attention pattern lays out in place of queries, if the source needs none."""
        return None

    def check(self, length: int) -> int:
        if length > self.length:
            raise OptionError(
                f"a sequence of {length} tokens is longer than the Synthesizer's table of {self.length}: "
                f"train with --score-length {length} or more, or leave out sequences over {self.length} tokens"
            )
        return length


class NoScores(ScoreSource):
    """Source of a layer whose scores are those of another: zeros, of which only the shape is used."""

    tabled = False

    def layout(self, x: Tensor) -> Tensor:
        return x[:, None, :, :1]  # B x 1 x T x 1

    def forward(self, _x: Tensor, query: Tensor, seen: KeysValues) -> Tensor:
        rows, _, length, _ = query.shape
        return query.new_zeros(()).expand(rows, self.heads, length, seen.parts[0].size(2))
