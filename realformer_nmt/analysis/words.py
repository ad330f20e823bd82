"""What is known of the words of a text: which are punctuation, which begin a word, where there is to look at."""

import html
import unicodedata
from collections.abc import Sequence
from itertools import accumulate

import torch
from fairseq.data import Dictionary
from torch import Tensor

from realformer_nmt.analysis.text import Batch
from realformer_nmt.analysis.watching import CROSS

SPACE, JOINT = "\N{LOWER ONE EIGHTH BLOCK}", "@@"  # of sentencepiece before a word, of subword-nmt within one


class Words:
    """The dictionaries of what each side reads, as the analyses ask them."""

    def __init__(self, dictionaries: Sequence[Dictionary], device: torch.device) -> None:
        self.dictionaries = dictionaries
        self.pad, self.end = int(dictionaries[0].pad()), int(dictionaries[0].eos())
        self.punctuation = [punctuation(words).to(device) for words in self.dictionaries]

    def pieces(self, batch: Batch, row: int) -> list[list[str]]:
        """Of one sentence's source and target, without their ends."""
        sides = zip(self.dictionaries, (batch.source, batch.target), strict=True)
        return [[words[n] for n in tokens[row].tolist() if n not in (self.pad, self.end)] for words, tokens in sides]

    def looks(self, batch: Batch) -> dict[str, dict[str, Tensor]]:
        """By chain and name, where there is to look at, each to be broadcast to B x T x S."""
        seen = {
            side: {"punctuation": marks[tokens].unsqueeze(1), "end": tokens.eq(self.end).unsqueeze(1)}
            for marks, (side, tokens) in zip(self.punctuation, batch.read.items(), strict=True)
        }
        to_itself = {side: near(batch.read[side]) | own for side, own in seen.items()}
        return {**to_itself, CROSS: seen.get("encoder", {})}


def near(tokens: Tensor) -> dict[str, Tensor]:
    """For what attends to itself, T x T."""
    places = torch.arange(tokens.size(1), device=tokens.device)
    distance = places - places.unsqueeze(1)
    return {"previous": distance == -1, "same": distance == 0, "next": distance == 1}


def punctuation(words: Dictionary) -> Tensor:
    """Of every entry, whether it is punctuation alone."""
    return torch.tensor([number >= words.nspecial and is_punctuation(words[number]) for number in range(len(words))])


def is_punctuation(piece: str) -> bool:
    """Moses writes some of it as XML entities, and a hyphen within a word as @-@."""
    text = html.unescape(piece.replace(SPACE, "").removesuffix(JOINT))
    return bool(text) and all(unicodedata.category(letter)[0] in "PS" for letter in text)


def word_of_each(pieces: list[str]) -> list[int]:
    """The word that each piece is of, from 0; where no piece has a mark, each is a word."""
    if any(piece.startswith(SPACE) for piece in pieces):
        begins = [piece.startswith(SPACE) for piece in pieces]
    else:
        begins = [not before.endswith(JOINT) for before in ["", *pieces[:-1]]]
    return [number - 1 for number in accumulate([True, *begins[1:]][: len(pieces)])]
