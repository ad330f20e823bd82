"""The largest logits of each row and their sum, from parts of the vocabulary that fit in the processor's cache.

The largest k of a row are in the k blocks whose maxima are largest: one pass for the maxima, and few numbers to sort.
"""

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from realformer_nmt.kernels.native.best import Search
from realformer_nmt.kernels.native.library import library, readable

BLOCK = 64  # words
CACHED = 2**18  # numbers that are still in the cache when they are read again


class Best(NamedTuple):
    """Largest logits of each row, and their words."""

    first: Tensor  # logits of the first words, which are special symbols: rows x first
    values: Tensor  # the largest logits of the rest, in order: rows x number
    words: Tensor  # the words of these logits: rows x number
    total: Tensor  # log sum exp over all words: rows x 1

    def shortlist(self) -> tuple[Tensor, Tensor]:
        """Return log-probabilities and their words: the first, then the largest of the rest, rows x columns each."""
        special = torch.arange(self.first.size(1), device=self.words.device).expand(len(self.words), -1)
        return torch.cat([self.first, self.values], 1) - self.total, torch.cat([special, self.words], 1)

    def forced(self, logits: Tensor, words: Tensor) -> "Best":
        """Return the shortlist of rows that have one word each, rows x 1; logits are of all words."""
        values = torch.full_like(self.values, -torch.inf)
        values[:, :1] = logits.gather(1, words)
        return Best(
            torch.full_like(self.first, -torch.inf), values, torch.cat([words, self.words[:, 1:]], 1), self.total
        )


class Piece(NamedTuple):
    """Logits of a part of the vocabulary."""

    starts: Tensor  # the first word of each block
    blocks: Tensor  # rows x blocks x BLOCK: logits, -inf for the first words
    maxima: Tensor  # rows x blocks
    total: Tensor  # log sum exp over its words: rows x 1


def best(pieces: Iterable[Tensor], first: int, number: int) -> Best:
    """Return the largest logits of each row; `pieces` are the vocabulary's, rows x words each, and are overwritten."""
    rest = iter(pieces)
    logits = next(rest)
    pieces = itertools.chain([logits], rest)
    if logits.dtype is torch.float32 and readable(logits) and number > 0 and library() is not None:
        return _by_kernel(pieces, Search(len(logits), first, number))
    return _by_torch(pieces, first, number)


def _by_kernel(pieces: Iterable[Tensor], search: Search) -> Best:
    front = []
    for logits in pieces:
        front.append(logits[:, : max(0, search.first - search.seen)].clone())
        search.add(logits)
    return Best(torch.cat(front, 1), search.values, search.words, search.log_of_sum())


def _by_torch(pieces: Iterable[Tensor], first: int, number: int) -> Best:
    front, parts, seen = [], [], 0
    for logits in pieces:
        excluded = max(0, first - seen)
        front.append(logits[:, :excluded].clone())
        parts.append(_piece(logits, seen, excluded))
        seen += logits.size(1)
    values, words = largest_of(parts, number)
    total = torch.cat([part.total for part in parts], 1).logsumexp(1, True)
    return Best(torch.cat(front, 1), values, words, total)


def largest_of(pieces: Sequence[Piece], number: int) -> tuple[Tensor, Tensor]:
    """Return the largest logits of each row, in order, and their words: rows x number each."""
    maxima = torch.cat([piece.maxima for piece in pieces], 1)
    best_blocks = maxima.topk(min(number, maxima.size(1))).indices  # rows x k
    candidates, before = maxima.new_empty(()), 0
    for piece in pieces:
        blocks = piece.maxima.size(1)
        index = (best_blocks - before).clamp_(0, blocks - 1).unsqueeze(2).expand(-1, -1, BLOCK)
        values = piece.blocks.gather(1, index)  # rows x k x BLOCK; meaningless for blocks of other pieces
        candidates = torch.where((best_blocks >= before).unsqueeze(2), values, candidates)
        before += blocks
    values, indices = candidates.flatten(1).topk(number)
    starts = torch.cat([piece.starts for piece in pieces])
    return values, starts[best_blocks.gather(1, indices // BLOCK)] + indices % BLOCK


def _piece(logits: Tensor, start: int, excluded: int) -> Piece:
    """Arrange logits in blocks; the first `excluded` words count in the sum only."""
    missing = -logits.size(1) % BLOCK
    padded = pad(logits, (0, missing), value=-torch.inf) if missing else logits
    blocks = torch.unflatten(padded, 1, (-1, BLOCK))
    maxima = blocks.amax(2)
    total = log_of_sum(logits, maxima.amax(1, keepdim=True))
    if excluded:
        blocks.flatten(1)[:, :excluded] = -torch.inf
        changed = -(-excluded // BLOCK)
        maxima[:, :changed] = blocks[:, :changed].amax(2)
    starts = start + torch.arange(blocks.size(1), device=logits.device) * BLOCK
    return Piece(starts, blocks, maxima, total)


def log_of_sum(logits: Tensor, largest: Tensor) -> Tensor:
    """Return log sum exp of each row, rows x 1, for a few rows at a time, since it takes several passes."""
    largest = largest.clamp(min=torch.finfo(largest.dtype).min)  # -inf - -inf is NaN
    rows = max(1, CACHED // logits.size(1)) if logits.device.type == "cpu" else len(logits)
    parts = zip(torch.split(logits, rows), torch.split(largest, rows), strict=True)
    return torch.cat([(some - most).exp_().sum(1, keepdim=True) for some, most in parts]).log_().add_(largest)
