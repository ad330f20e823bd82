"""Held-out text of a data-bin, read as in training, in batches padded on the right."""

import math
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
from realformer_nmt.data_bins import subsets
from realformer_nmt.data_bins.datasets import dictionary

INPUTS = ("src_tokens", "prev_output_tokens")  # fairseq's names of what the first stack reads, and the second
TOKENS = 2000  # per batch, padding included: the attention of a layer has heads x length as many numbers

TextType = TypeVar("TextType", bound="Text")


class Batch(NamedTuple):
    indices: list[int]  # of the sentences in the text
    read: dict[str, Tensor]  # by side of the model, in fairseq's order; B x T each
    target: Tensor  # B x T, what is to be predicted, padding where nothing is
    more: Mapping[str, Tensor] = MappingProxyType({})  # further inputs of a head

    @property
    def source(self) -> Tensor:
        """Source tokens with the end symbol."""
        return self.read["encoder"]

    @property
    def previous(self) -> Tensor:
        """The end symbol, then the target without its last token."""
        return self.read["decoder"]

    @property
    def inputs(self) -> dict[str, Tensor | None]:
        """Arguments of the model's forward."""
        return {"src_lengths": None, **dict(zip(INPUTS, self.read.values(), strict=False))}

    def to(self, device: torch.device | str) -> "Batch":
        read = {side: tokens.to(device) for side, tokens in self.read.items()}
        more = {name: tensor.to(device) for name, tensor in self.more.items()}
        return Batch(self.indices, read, self.target.to(device), more)


@dataclass(frozen=True)
class Text:
    """One subset, of which the sentences of `indices` are read."""

    dictionaries: tuple[Dictionary, ...]  # one for each side of a model
    sides: tuple[Any, ...]  # fairseq's datasets, which stay on the disk
    indices: Sequence[int]

    @property
    def pad(self) -> int:
        return int(self.dictionaries[0].pad())

    def prepare(self, model: Any) -> None:
        """Add the head that the targets need to an untrained model."""

    def target_count(self, batch: Batch) -> int:
        """Count the targets, without padding."""
        return int(batch.target.ne(self.pad).sum())

    def summed_loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """Return the loss in nats, summed over the targets."""
        logits = model(**batch.inputs)[0].flatten(0, 1).float()
        return cross_entropy(logits, batch.target.flatten(), ignore_index=self.pad, reduction="sum")

    def sample(self: TextType, most: int) -> TextType:
        """Return the text with at most so many sentences, evenly spread."""
        positions = np.linspace(0, len(self.indices) - 1, min(most, len(self.indices))).round().astype(int)
        return replace(self, indices=[self.indices[position] for position in positions])

    def within(self: TextType, limits: int | tuple[int, int]) -> TextType:
        """Return the text without the sentences that are too long for a model, which its training skipped too."""
        short = np.all(self.lengths() <= np.array(limits), axis=1).tolist()
        fitting = [index for index, fits in zip(self.indices, short, strict=True) if fits]
        if not fitting:
            raise UserError(f"every sentence is longer than {limits} tokens, the model's limits: give another --subset")
        return replace(self, indices=fitting)

    def batches(self, device: torch.device | str = "cpu") -> Iterator[Batch]:
        """Yield batches of sentences of similar length."""
        lengths = self.lengths()
        group: list[int] = []
        longest = 0
        for position in np.lexsort(lengths.T):
            longest = max(longest, *lengths[position])
            if group and (len(group) + 1) * longest > TOKENS:
                yield self._batch(group).to(device)
                group, longest = [], max(lengths[position])
            group.append(self.indices[position])
        yield self._batch(group).to(device)

    def lengths(self) -> np.ndarray:
        """Return lengths in tokens, end symbols included: sentences x sides."""
        return np.stack([side.sizes[np.array(self.indices)] for side in self.sides], 1)

    def _batch(self, indices: list[int]) -> Batch:
        source, target = ([side[index].long() for index in indices] for side in self.sides)
        return collate(indices, source, target, self.dictionaries[1])


def collate(indices: list[int], source: list[Tensor], target: list[Tensor], words: Dictionary) -> Batch:
    pad, end = words.pad(), words.eos()
    previous = collate_tokens(target, pad, end, move_eos_to_beginning=True)
    return Batch(indices, {"encoder": collate_tokens(source, pad), "decoder": previous}, collate_tokens(target, pad))


def read(data: Path, subset: str, most: int) -> Text:
    """Read at most so many sentences of a subset and their translations, evenly spread."""
    pair = subsets.languages(data)
    sides, dictionaries = [], []
    for language in pair:
        index = subsets.sound(data, subset, pair, language)
        sides.append(indexed_dataset.make_dataset(str(index.with_suffix("")), "mmap"))
        dictionaries.append(dictionary(data / f"dict.{language}.txt"))
    source, target = sides
    if len(source) != len(target):
        counts = f"{len(source):,} sentences in {pair[0]} and {len(target):,} in {pair[1]}"
        raise UserError(f"{data}: {subset} has {counts}: binarise both texts again")
    return Text((dictionaries[0], dictionaries[1]), (source, target), range(len(source))).sample(most)


def count_targets(text: Text) -> int:
    """Count the tokens to be predicted, end symbols included."""
    number = sum(map(text.target_count, text.batches()))
    if not number:
        raise UserError("these sentences have no masked token, so there is nothing to predict: pass more --sentences")
    return number


@torch.no_grad()
def loss(model: nn.Module, text: Text) -> float:
    """Return the mean cross-entropy in bits per token."""
    losses = (float(text.summed_loss(model, batch)) for batch in text.batches(device_of(model)))
    return sum(losses) / count_targets(text) / math.log(2)


def device_of(model: nn.Module) -> torch.device:
    return next(model.parameters()).device
