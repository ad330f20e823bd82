"""Held-out text of a data-bin, in batches whose padding is on the right, as the model reads it when it is trained."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from fairseq.data import Dictionary, indexed_dataset
from fairseq.data.data_utils import collate_tokens
from torch import Tensor

from realformer_nmt.common.errors import UserError
from realformer_nmt.data_bins import databin
from realformer_nmt.data_bins.datasets import dictionary

TOKENS = 2000  # of a batch, padding included: attention takes heads x length as many numbers, a layer at a time


class Batch(NamedTuple):
    places: list[int]  # of the sentences in the text
    source: Tensor  # B x S, with the end symbol
    previous: Tensor  # B x T, what the decoder reads: the end symbol, then the target without its last
    target: Tensor  # B x T


@dataclass(frozen=True)
class Text:
    """One subset, of which `chosen` sentences are read."""

    dictionaries: tuple[Dictionary, Dictionary]
    sides: tuple[Any, Any]  # fairseq's datasets, which stay on the disk
    chosen: Sequence[int]

    @property
    def pad(self) -> int:
        return int(self.dictionaries[0].pad())

    def sample(self, most: int) -> "Text":
        """Evenly spread over the text."""
        places = np.linspace(0, len(self.chosen) - 1, min(most, len(self.chosen))).round().astype(int)
        return Text(self.dictionaries, self.sides, [self.chosen[place] for place in places])

    def within(self, limits: tuple[int, int]) -> "Text":
        """Without the sentences that have no room in a model, which its training has left out too."""
        short = np.all(self.lengths() <= np.array(limits), axis=1).tolist()
        kept = [place for place, fits in zip(self.chosen, short, strict=True) if fits]
        if not kept:
            raise UserError(f"every sentence is longer than {limits} tokens, the model's limits: give another --subset")
        return Text(self.dictionaries, self.sides, kept)

    def batches(self) -> Iterator[Batch]:
        """Sentences of similar length together."""
        lengths = self.lengths()
        group: list[int] = []
        longest = 0
        for at in np.lexsort(lengths.T):
            longest = max(longest, *lengths[at])
            if group and (len(group) + 1) * longest > TOKENS:
                yield self._batch(group)
                group, longest = [], max(lengths[at])
            group.append(self.chosen[at])
        yield self._batch(group)

    def lengths(self) -> np.ndarray:
        """In tokens, ends included: sentences x 2"""
        return np.stack([side.sizes[np.array(self.chosen)] for side in self.sides], 1)

    def _batch(self, places: list[int]) -> Batch:
        source, target = ([side[place].long() for place in places] for side in self.sides)
        return collate(places, source, target, self.dictionaries[1])


def collate(places: list[int], source: list[Tensor], target: list[Tensor], words: Dictionary) -> Batch:
    pad, end = words.pad(), words.eos()
    previous = collate_tokens(target, pad, end, move_eos_to_beginning=True)
    return Batch(places, collate_tokens(source, pad), previous, collate_tokens(target, pad))


def read(data: Path, subset: str, most: int) -> Text:
    """At most so many sentences, evenly spread."""
    pair = databin.languages(data)
    databin.count(data, subset, *pair)
    sides, dictionaries = [], []
    for language in pair:
        index = databin.sound(data, subset, pair, language)
        if index is None:
            raise UserError(f"{data} holds no subset {subset} in {language}: analyses read the translation too")
        sides.append(indexed_dataset.make_dataset(str(index.with_suffix("")), "mmap"))
        dictionaries.append(dictionary(data / f"dict.{language}.txt"))
    everything = range(len(sides[0]))
    return Text((dictionaries[0], dictionaries[1]), (sides[0], sides[1]), everything).sample(most)


def to(batch: Batch, device: torch.device) -> Batch:
    return Batch(batch.places, *(tokens.to(device) for tokens in batch[1:]))
