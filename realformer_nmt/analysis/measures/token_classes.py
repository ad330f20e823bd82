"""Kinds of the subwords of a text: which are punctuation, which begin a word, which are near or at the end."""

import html
import unicodedata
from collections.abc import Sequence
from itertools import accumulate

import torch
from fairseq.data import Dictionary
from torch import Tensor

from realformer_nmt.analysis.hooks import CROSS
from realformer_nmt.analysis.text import Batch

SPACE, JOINT = "\N{LOWER ONE EIGHTH BLOCK}", "@@"  # sentencepiece's mark before a word, subword-nmt's within one


class TokenClasses:
    """Dictionaries of both sides of a text, and masks of kinds of positions."""

    def __init__(self, dictionaries: Sequence[Dictionary], device: torch.device) -> None:
        self.dictionaries = dictionaries
        self.pad, self.end = int(dictionaries[0].pad()), int(dictionaries[0].eos())
        self.punctuation = [punctuation(words).to(device) for words in self.dictionaries]
        self.marked = [any(map(has_mark, words.symbols)) for words in self.dictionaries]

    def subwords(self, batch: Batch, row: int) -> list[list[str]]:
        """Return one sentence's source and target without their end symbols."""
        sides = zip(self.dictionaries, (batch.source, batch.target), strict=True)
        return [[words[n] for n in tokens[row].tolist() if n not in (self.pad, self.end)] for words, tokens in sides]

    def shows_words(self, batch: Batch, row: int) -> bool:
        """Tell whether the words of one sentence can be told apart: an unknown subword has lost its mark."""
        sides = zip(self.dictionaries, (batch.source, batch.target), self.marked, strict=True)
        return not any(marked and bool(tokens[row].eq(words.unk()).any()) for words, tokens, marked in sides)

    def looks(self, batch: Batch) -> dict[str, dict[str, Tensor]]:
        """Return a mask for each chain and each kind of position; a mask broadcasts to B x T x S."""
        masks = {
            side: {"punctuation": marks[tokens].unsqueeze(1), "end": tokens.eq(self.end).unsqueeze(1)}
            for marks, (side, tokens) in zip(self.punctuation, batch.read.items(), strict=True)
        }
        to_itself = {side: near(batch.read[side]) | by_name for side, by_name in masks.items()}
        return {**to_itself, CROSS: masks.get("encoder", {})}


def near(tokens: Tensor) -> dict[str, Tensor]:
    """Return the masks of the neighbours for self-attention, T x T."""
    positions = torch.arange(tokens.size(1), device=tokens.device)
    distance = positions - positions.unsqueeze(1)
    return {"previous": distance == -1, "same": distance == 0, "next": distance == 1}


def punctuation(words: Dictionary) -> Tensor:
    """Return a mask of the entries of a dictionary that are only punctuation."""
    return torch.tensor([number >= words.nspecial and is_punctuation(words[number]) for number in range(len(words))])


def is_punctuation(subword: str) -> bool:
    """Return whether a subword is only punctuation, which Moses may write as XML entities or, in a word, as @-@."""
    text = html.unescape(subword.replace(SPACE, "").removesuffix(JOINT))
    return bool(text) and all(unicodedata.category(letter)[0] in "PS" for letter in text)


def has_mark(subword: str) -> bool:
    """Tell whether a subword shows that it begins a word, or that it does not end one."""
    return subword.startswith(SPACE) or subword.endswith(JOINT)


def word_of_each(subwords: list[str]) -> list[int]:
    """Return the index of the word of each subword; where no subword has a mark, each is a word."""
    if any(subword.startswith(SPACE) for subword in subwords):
        begins = [subword.startswith(SPACE) for subword in subwords]
    else:
        begins = [not before.endswith(JOINT) for before in ["", *subwords[:-1]]]
    return [number - 1 for number in accumulate([True, *begins[1:]][: len(subwords)])]
