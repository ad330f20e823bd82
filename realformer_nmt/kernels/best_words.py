"""The best words of each row and the sum over all, out of pieces of the vocabulary that fit in the processor's cache.

The largest k of a row are in the k blocks whose maxima are largest: one pass for the maxima, and few numbers to sort.
"""

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor

BLOCK = 64  # words
CACHED = 2**18  # numbers that are still in the cache when they are read a second time


class Best(NamedTuple):
    first: Tensor  # logits of the words in front, which have a meaning of their own: rows x first
    values: Tensor  # the largest logits of the others, in order: rows x number
    words: Tensor  # whose they are: rows x number
    total: Tensor  # log sum exp over all words: rows x 1


def best(pieces: Iterable[Tensor], first: int, number: int) -> Best:
    """Of logits, rows x words each, the vocabulary in order. They are overwritten."""
    start, front, values, words, totals = 0, [], [], [], []
    for logits in pieces:
        totals.append(log_of_sum(logits))
        own = max(0, first - start)
        front.append(logits[:, :own].clone())
        logits[:, :own] = -torch.inf
        largest, places = largest_of(logits, min(number, logits.size(1)))
        values.append(largest)
        words.append(places + start)
        start += logits.size(1)
    largest, places = torch.cat(values, 1).topk(number)
    return Best(
        torch.cat(front, 1), largest, torch.cat(words, 1).gather(1, places), torch.cat(totals, 1).logsumexp(1, True)
    )


def largest_of(logits: Tensor, number: int) -> tuple[Tensor, Tensor]:
    """Of each row the largest, and where they stand: rows x number each."""
    blocks = logits.size(1) // BLOCK
    if blocks <= number:
        return logits.topk(number)
    end = blocks * BLOCK
    whole, rest = logits[:, :end].unflatten(1, (blocks, BLOCK)), logits[:, end:]
    chosen = whole.amax(2).topk(number).indices.unsqueeze(2)  # rows x number x 1
    words = torch.cat([(chosen * BLOCK + torch.arange(BLOCK, device=logits.device)).flatten(1), _places(rest, end)], 1)
    candidates = torch.cat([whole.gather(1, chosen.expand(-1, -1, BLOCK)).flatten(1), rest], 1)
    values, places = candidates.topk(number)
    return values, words.gather(1, places)


def log_of_sum(logits: Tensor) -> Tensor:
    """log sum exp of each row, rows x 1, a few rows at a time: torch passes over them several times."""
    rows = max(1, CACHED // logits.size(1))
    return torch.cat([some.logsumexp(1, keepdim=True) for some in logits.split(rows)])


def _places(logits: Tensor, start: int) -> Tensor:
    return torch.arange(start, start + logits.size(1), device=logits.device).expand(logits.shape)
