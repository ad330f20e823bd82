"""Held-out text of a data-bin, in batches whose padding is on the right, as the model reads it when it is trained."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from fairseq.data import Dictionary, indexed_dataset
from fairseq.data.data_utils import collate_tokens
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from realformer_nmt.common.errors import UserError
from realformer_nmt.data_bins import databin
from realformer_nmt.data_bins.datasets import dictionary

INPUTS = ("src_tokens", "prev_output_tokens")  # as fairseq calls what the first side reads, and the second
TOKENS = 2000  # of a batch, padding included: attention takes heads x length as many numbers, a layer at a time

Own = TypeVar("Own", bound="Text")


class Batch(NamedTuple):
    places: list[int]  # of the sentences in the text
    read: dict[str, Tensor]  # by side of the model, in fairseq's order; B x T each
    target: Tensor  # B x T, what is to be predicted, padding where nothing is
    more: Mapping[str, Tensor] = MappingProxyType({})  # that a head is told

    @property
    def source(self) -> Tensor:
        """With the end symbol."""
        return self.read["encoder"]

    @property
    def previous(self) -> Tensor:
        """The end symbol, then the target without its last."""
        return self.read["decoder"]

    @property
    def inputs(self) -> dict[str, Tensor | None]:
        """As models are called, whatever their sides."""
        return {"src_lengths": None, **dict(zip(INPUTS, self.read.values(), strict=False))}


@dataclass(frozen=True)
class Text:
    """One subset, of which `chosen` sentences are read."""

    dictionaries: tuple[Dictionary, ...]  # of what each side of a model reads
    sides: tuple[Any, ...]  # fairseq's datasets, which stay on the disk
    chosen: Sequence[int]

    @property
    def pad(self) -> int:
        return int(self.dictionaries[0].pad())

    def prepare(self, model: Any) -> None:
        """One without training, which has no head yet for what is to be predicted."""

    def number(self, batch: Batch) -> int:
        """Of what is to be predicted."""
        return int(batch.target.ne(self.pad).sum())

    def lost(self, model: nn.Module, batch: Batch) -> Tensor:
        """In nats, over all of it."""
        logits = model(**batch.inputs)[0].flatten(0, 1).float()
        return cross_entropy(logits, batch.target.flatten(), ignore_index=self.pad, reduction="sum")

    def sample(self: Own, most: int) -> Own:
        """Evenly spread over the text."""
        places = np.linspace(0, len(self.chosen) - 1, min(most, len(self.chosen))).round().astype(int)
        return replace(self, chosen=[self.chosen[place] for place in places])

    def within(self: Own, limits: int | tuple[int, int]) -> Own:
        """Without the sentences that have no room in a model, which its training has left out too."""
        short = np.all(self.lengths() <= np.array(limits), axis=1).tolist()
        kept = [place for place, fits in zip(self.chosen, short, strict=True) if fits]
        if not kept:
            raise UserError(f"every sentence is longer than {limits} tokens, the model's limits: give another --subset")
        return replace(self, chosen=kept)

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
        """In tokens, ends included: sentences x sides"""
        return np.stack([side.sizes[np.array(self.chosen)] for side in self.sides], 1)

    def _batch(self, places: list[int]) -> Batch:
        source, target = ([side[place].long() for place in places] for side in self.sides)
        return collate(places, source, target, self.dictionaries[1])


def collate(places: list[int], source: list[Tensor], target: list[Tensor], words: Dictionary) -> Batch:
    pad, end = words.pad(), words.eos()
    previous = collate_tokens(target, pad, end, move_eos_to_beginning=True)
    return Batch(places, {"encoder": collate_tokens(source, pad), "decoder": previous}, collate_tokens(target, pad))


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
    read = {side: tokens.to(device) for side, tokens in batch.read.items()}
    return Batch(batch.places, read, batch.target.to(device), {name: of.to(device) for name, of in batch.more.items()})
