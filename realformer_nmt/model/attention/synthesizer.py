"""The score sources of the Synthesizer (Tay et al. 2021), whose scores do not depend on keys."""

import math

import torch
from torch import Tensor, nn

from realformer_nmt.model.attention.cache import KeysValues
from realformer_nmt.model.attention.score_source import ScoreSource

RANK = 8  # k of factorised_random, Synthesizer section 3.2


class Dense(ScoreSource):
    """relu(q_i) W2, a row of N entries cut to S: Synthesizer (Tay et al. 2021), section 3.1, as in its authors' code.

    q_i is the projection of all of x_i that a dot product would start from; in a mixture with one both start from it.
    W2 is one matrix for all heads.
    """

    queries = True

    def __init__(self, heads: int, head_width: int, length: int) -> None:
        super().__init__(heads, head_width, length)
        self.row_weight = nn.Parameter(torch.randn(head_width, length) * head_width**-0.5)

    def forward(self, _x: Tensor, query: Tensor, seen: KeysValues) -> Tensor:
        length = self.check(seen.length)
        hidden = torch.relu(query * self.head_width**-0.5)  # B x H x T x D
        return seen.place(hidden @ self.row_weight[:, :length])


class DensePerHead(ScoreSource):
    """W2 relu(W1 x_i + b1) + b2, with separate matrices per head.

    A head reads its part of x_i only: another reading of Synthesizer, section 3.1.
    """

    def __init__(self, heads: int, head_width: int, length: int) -> None:
        super().__init__(heads, head_width, length)
        self.hidden_weight = nn.Parameter(_uniform(heads, head_width, head_width))
        self.hidden_bias = nn.Parameter(torch.zeros(heads, 1, head_width))
        self.row_weight = nn.Parameter(_uniform(heads, head_width, length))
        self.row_bias = nn.Parameter(torch.zeros(heads, 1, length))

    def forward(self, x: Tensor, _query: None, seen: KeysValues) -> Tensor:
        length = self.check(seen.length)
        hidden = torch.relu(_split(x, self.heads) @ self.hidden_weight + self.hidden_bias)  # B x H x T x D
        return seen.place(hidden @ self.row_weight[..., :length] + self.row_bias[..., :length])


class FactorisedDense(ScoreSource):
    """A(x_i) repeated blockwise times B(x_i) repeated cyclically, a * b = N: Synthesizer, section 3.2.

    A head reads its part of x_i only. The authors' code does not have this source.
    """

    def __init__(self, heads: int, head_width: int, length: int) -> None:
        super().__init__(heads, head_width, length)
        blocks = next(a for a in range(math.isqrt(length), 0, -1) if length % a == 0)
        self.block_weight = nn.Parameter(_uniform(heads, head_width, blocks))
        self.cycle_weight = nn.Parameter(_uniform(heads, head_width, length // blocks))

    def forward(self, x: Tensor, _query: None, seen: KeysValues) -> Tensor:
        length = self.check(seen.length)
        x = _split(x, self.heads)
        block, cycle = x @ self.block_weight, x @ self.cycle_weight  # B x H x T x a, B x H x T x b
        return seen.place((block.unsqueeze(-1) * cycle.unsqueeze(-2)).flatten(-2)[..., :length])


class Random(ScoreSource):
    """Row i of a trained N x N matrix per head, for all tokens: Synthesizer, section 3.1.

    It starts as in the authors' code, whose library initialises N x H x N numbers like those of a convolution.
    """

    def __init__(self, heads: int, head_width: int, length: int) -> None:
        super().__init__(heads, head_width, length)
        self.table = nn.Parameter(_table(heads, length, length))

    def forward(self, _x: Tensor, _query: None, seen: KeysValues) -> Tensor:
        length = self.check(seen.length)
        return seen.place(seen.rows(self.table)[..., :length].unsqueeze(0))  # 1 x H x T x S


class FixedRandom(Random):
    """Random that is not trained: Synthesizer, section 3.1."""

    def __init__(self, heads: int, head_width: int, length: int) -> None:
        super().__init__(heads, head_width, length)
        table = self.table.data
        del self.table
        self.register_buffer("table", table)


class FactorisedRandom(ScoreSource):
    """R1 R2^T with R1 and R2 N x k per head, k = 8: Synthesizer, section 3.2. They start like Random's table.

    Not so in the authors' code (tensorflow/mesh, da90793), whose product is the same for every position that looks.
    """

    def __init__(self, heads: int, head_width: int, length: int) -> None:
        super().__init__(heads, head_width, length)
        self.rows = nn.Parameter(_table(heads, length, RANK))
        self.columns = nn.Parameter(_table(heads, length, RANK))

    def forward(self, _x: Tensor, _query: None, seen: KeysValues) -> Tensor:
        length = self.check(seen.length)
        scores = seen.rows(self.rows) @ self.columns[:, :length].transpose(-1, -2)
        return seen.place(scores.unsqueeze(0))  # 1 x H x T x S


def _split(x: Tensor, heads: int) -> Tensor:
    return torch.unflatten(x, -1, (heads, -1)).transpose(1, 2)  # B x H x T x D


def _uniform(heads: int, inputs: int, outputs: int) -> Tensor:
    """Return a Xavier-uniform matrix per head."""
    bound = math.sqrt(6 / (inputs + outputs))
    return torch.empty(heads, inputs, outputs).uniform_(-bound, bound)


def _table(heads: int, length: int, taps: int) -> Tensor:
    """Return TensorFlow's Xavier-uniform numbers for a convolution of `taps` taps, `heads` to `length` channels."""
    bound = math.sqrt(6 / (taps * (heads + length)))
    return torch.empty(heads, length, taps).uniform_(-bound, bound)
