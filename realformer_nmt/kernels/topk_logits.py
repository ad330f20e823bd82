"""The best words of each row and the sum over all, out of pieces of the vocabulary that fit in the processor's cache.

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
CACHED = 2**18  # numbers that are still in the cache when they are read a second time


class Best(NamedTuple):
    first: Tensor  # logits of the words in front, which have a meaning of their own: rows x first
    values: Tensor  # the largest logits of the others, in order: rows x number
    words: Tensor  # whose they are: rows x number
    total: Tensor  # log sum exp over all words: rows x 1


class Piece(NamedTuple):
    start: int  # its first word
    blocks: Tensor  # rows x blocks x BLOCK: logits, without the words in front
    maxima: Tensor  # rows x blocks
    total: Tensor  # log sum exp over its words: rows x 1


def best(pieces: Iterable[Tensor], first: int, number: int) -> Best:
    """Of logits, rows x words each, the vocabulary in order. They are overwritten."""
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
    front, found, words = [], [], 0
    for logits in pieces:
        own = max(0, first - words)
        front.append(logits[:, :own].clone())
        found.append(_piece(logits, words, own))
        words += logits.size(1)
    return Best(
        torch.cat(front, 1),
        *largest_of(found, number),
        torch.cat([piece.total for piece in found], 1).logsumexp(1, True),
    )


def largest_of(pieces: Sequence[Piece], number: int) -> tuple[Tensor, Tensor]:
    """Of each row the largest, in order, and which words they are: rows x number each."""
    maxima = torch.cat([piece.maxima for piece in pieces], 1)
    chosen = maxima.topk(min(number, maxima.size(1))).indices  # blocks: rows x k
    candidates, before = maxima.new_empty(()), 0
    for piece in pieces:
        blocks = piece.maxima.size(1)
        place = (chosen - before).clamp_(0, blocks - 1).unsqueeze(2).expand(-1, -1, BLOCK)
        values = piece.blocks.gather(1, place)  # rows x k x BLOCK; of other pieces' blocks anything
        candidates = torch.where((chosen >= before).unsqueeze(2), values, candidates)
        before += blocks
    values, places = candidates.flatten(1).topk(number)
    return values, _starts(pieces, maxima.device)[chosen.gather(1, places // BLOCK)] + places % BLOCK


def _piece(logits: Tensor, start: int, own: int) -> Piece:
    """The first `own` words are in the sum alone."""
    missing = -logits.size(1) % BLOCK
    blocks = (pad(logits, (0, missing), value=-torch.inf) if missing else logits).unflatten(1, (-1, BLOCK))
    maxima = blocks.amax(2)
    total = log_of_sum(logits, maxima.amax(1, keepdim=True))
    if own:
        blocks.flatten(1)[:, :own] = -torch.inf
        changed = -(-own // BLOCK)
        maxima[:, :changed] = blocks[:, :changed].amax(2)
    return Piece(start, blocks, maxima, total)


def log_of_sum(logits: Tensor, largest: Tensor) -> Tensor:
    """log sum exp of each row, rows x 1, a few rows at a time: it takes several passes over them."""
    largest = largest.clamp(min=torch.finfo(largest.dtype).min)  # -inf less -inf is no number
    rows = max(1, CACHED // logits.size(1))
    parts = zip(logits.split(rows), largest.split(rows), strict=True)
    return torch.cat([(some - most).exp_().sum(1, keepdim=True) for some, most in parts]).log_().add_(largest)


def _starts(pieces: Sequence[Piece], device: torch.device) -> Tensor:
    """The first word of each block."""
    return torch.cat([piece.start + torch.arange(piece.maxima.size(1), device=device) * BLOCK for piece in pieces])
