"""Raw attention scores: where they come from (source) and how they pass from layer to layer (carry).

A source answers `source(x, query, memory)` with raw scores of shape (B or 1) x H x T x S, never masked: x is B x T x C,
query is B x H x T x D (None unless the source `projects`), memory has the keys that it may be matched with and says at
which positions both are.
"""

import functools
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from realformer_nmt.choices import choose
from realformer_nmt.decoding import Memory
from realformer_nmt.errors import OptionError

RANK = 8  # k of factorised_random, Synthesizer section 3.2


class ScoreSource(nn.Module):
    """What every source shares: its heads, and the longest sequence that its tables have room for."""

    projects = False  # whether it needs queries and keys
    tabled = True  # whether it has such tables

    def __init__(self, heads: int, head_width: int, length: int) -> None:
        super().__init__()
        self.heads, self.head_width, self.length = heads, head_width, length

    def check(self, length: int) -> int:
        if length > self.length:
            raise OptionError(
                f"a sequence of {length} tokens is longer than the Synthesizer's table of {self.length}: "
                f"train with --score-length {length} or more, or leave out sequences over {self.length} tokens"
            )
        return length


class Dot(ScoreSource):
    """Q K^T / sqrt(D): Vaswani et al. 2017, equation 1."""

    projects = True
    tabled = False

    def forward(self, _x: Tensor, query: Tensor, memory: Memory) -> Tensor:
        return memory.match(query * self.head_width**-0.5)  # B x H x T x S


class Dense(ScoreSource):
    """W2 relu(W1 x_i + b1) + b2 a head, a row of N entries cut to S: Synthesizer (Tay et al. 2021), section 3.1."""

    def __init__(self, heads: int, head_width: int, length: int) -> None:
        super().__init__(heads, head_width, length)
        self.hidden_weight = nn.Parameter(_uniform(heads, head_width, head_width))
        self.hidden_bias = nn.Parameter(torch.zeros(heads, 1, head_width))
        self.row_weight = nn.Parameter(_uniform(heads, head_width, length))
        self.row_bias = nn.Parameter(torch.zeros(heads, 1, length))

    def forward(self, x: Tensor, _query: None, memory: Memory) -> Tensor:
        length = self.check(memory.length)
        hidden = torch.relu(_split(x, self.heads) @ self.hidden_weight + self.hidden_bias)  # B x H x T x D
        return memory.place(hidden @ self.row_weight[..., :length] + self.row_bias[..., :length])


class FactorisedDense(ScoreSource):
    """A(x_i) repeated blockwise times B(x_i) repeated cyclically, a * b = N: Synthesizer, section 3.2."""

    def __init__(self, heads: int, head_width: int, length: int) -> None:
        super().__init__(heads, head_width, length)
        blocks = next(a for a in range(math.isqrt(length), 0, -1) if length % a == 0)
        self.block_weight = nn.Parameter(_uniform(heads, head_width, blocks))
        self.cycle_weight = nn.Parameter(_uniform(heads, head_width, length // blocks))

    def forward(self, x: Tensor, _query: None, memory: Memory) -> Tensor:
        length = self.check(memory.length)
        x = _split(x, self.heads)
        block, cycle = x @ self.block_weight, x @ self.cycle_weight  # B x H x T x a, B x H x T x b
        return memory.place((block.unsqueeze(-1) * cycle.unsqueeze(-2)).flatten(-2)[..., :length])


class Random(ScoreSource):
    """Row i of a trained N x N matrix a head, whatever the tokens: Synthesizer, section 3.1."""

    def __init__(self, heads: int, head_width: int, length: int) -> None:
        super().__init__(heads, head_width, length)
        self.table = nn.Parameter(torch.randn(heads, length, length))

    def forward(self, _x: Tensor, _query: None, memory: Memory) -> Tensor:
        length = self.check(memory.length)
        return memory.place(self.table[:, memory.start : length, :length].unsqueeze(0))  # 1 x H x T x S


class FixedRandom(Random):
    """As Random, never trained."""

    def __init__(self, heads: int, head_width: int, length: int) -> None:
        super().__init__(heads, head_width, length)
        table = self.table.data
        del self.table
        self.register_buffer("table", table)


class FactorisedRandom(ScoreSource):
    """R1 R2^T with R1 and R2 N x k, k = 8, a head: Synthesizer, section 3.2."""

    def __init__(self, heads: int, head_width: int, length: int) -> None:
        super().__init__(heads, head_width, length)
        deviation = RANK**-0.25  # the product then has unit variance, as Random's table
        self.rows = nn.Parameter(torch.randn(heads, length, RANK) * deviation)
        self.columns = nn.Parameter(torch.randn(heads, length, RANK) * deviation)

    def forward(self, _x: Tensor, _query: None, memory: Memory) -> Tensor:
        length = self.check(memory.length)
        scores = self.rows[:, memory.start : length] @ self.columns[:, :length].transpose(-1, -2)
        return memory.place(scores.unsqueeze(0))  # 1 x H x T x S


class Mixture(ScoreSource):
    """sum_i softmax(w)_i * scores_i over two or more sources: Synthesizer, section 3.2 ("Random + Vanilla")."""

    def __init__(self, sources: list[ScoreSource]) -> None:
        super().__init__(sources[0].heads, sources[0].head_width, sources[0].length)
        self.projects = any(source.projects for source in sources)
        self.sources = nn.ModuleList(sources)
        self.mixing = nn.Parameter(torch.zeros(len(sources)))

    def forward(self, x: Tensor, query: Tensor | None, memory: Memory) -> Tensor:
        weights = self.mixing.softmax(0)
        scores = [source(x, query, memory) for source in self.sources]
        return functools.reduce(torch.add, (weight * score for weight, score in zip(weights, scores, strict=True)))


SOURCES: dict[str, type[ScoreSource]] = {
    "dot": Dot,
    "dense": Dense,
    "random": Random,
    "fixed_random": FixedRandom,
    "factorised_dense": FactorisedDense,
    "factorised_random": FactorisedRandom,
}


def source_names(option: str) -> list[str]:
    """The parts of `--score-source`: one name, or different ones joined by +."""
    names = option.split("+")
    for name in names:
        choose("--score-source", name, SOURCES, " (or several of them joined by +, as in random+dot)")
    if len(set(names)) < len(names):
        raise OptionError(f"--score-source {option} names a source twice: name each once")
    return names


def longest(option: str, length: int) -> int | None:
    """How many tokens the tables of a source have room for, None if it has none."""
    return length if any(SOURCES[name].tabled for name in source_names(option)) else None


def build_source(option: str, heads: int, head_width: int, length: int) -> ScoreSource:
    sources = [SOURCES[name](heads, head_width, length) for name in source_names(option)]
    return sources[0] if len(sources) == 1 else Mixture(sources)


def _no_carry(scores: Tensor, _total: Tensor | None, _depth: int) -> tuple[Tensor, Tensor | None]:
    """logits_l = scores_l."""
    return scores, None


def _running_sum(scores: Tensor, total: Tensor | None, _depth: int) -> tuple[Tensor, Tensor | None]:
    """total_l = scores_l + total_{l-1}, logits_l = total_l: RealFormer (He et al. 2021), section 3."""
    total = scores.float() if total is None else scores + total  # fp32: sixty fp16 scores would overflow
    return total, total


def _running_mean(scores: Tensor, total: Tensor | None, depth: int) -> tuple[Tensor, Tensor | None]:
    """logits_l = total_l / l with the total of the running sum: RealFormer, section 4.1.3 and table 7."""
    total, _ = _running_sum(scores, total, depth)
    return total / depth, total


# (raw scores, total from the layer below or None, depth counted from 1) -> (logits, total for the layer above)
Carry = Callable[[Tensor, Tensor | None, int], tuple[Tensor, Tensor | None]]
CARRIES: dict[str, Carry] = {"none": _no_carry, "sum": _running_sum, "mean": _running_mean}


def _split(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)  # B x H x T x D


def _uniform(heads: int, inputs: int, outputs: int) -> Tensor:
    """Xavier-uniform, a matrix a head."""
    bound = math.sqrt(6 / (inputs + outputs))
    return torch.empty(heads, inputs, outputs).uniform_(-bound, bound)
