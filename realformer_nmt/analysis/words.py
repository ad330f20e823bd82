"""What is known of the words of a text: which are punctuation, which begin a word, where there is to look at."""

import html
import unicodedata
from itertools import accumulate

import torch
from fairseq.data import Dictionary
from torch import Tensor

from realformer_nmt.analysis.text import Batch
from realformer_nmt.analysis.watching import CROSS

SPACE, JOINT = "\N{LOWER ONE EIGHTH BLOCK}", "@@"  # of sentencepiece before a word, of subword-nmt within one


class Words:
    """Both dictionaries, as the analyses ask them."""

    def __init__(self, source: Dictionary, target: Dictionary, device: torch.device) -> None:
        self.dictionaries = source, target
        self.pad, self.end = int(source.pad()), int(source.eos())
        self.punctuation = [punctuation(words).to(device) for words in self.dictionaries]

    def pieces(self, batch: Batch, row: int) -> list[list[str]]:
        """Of one sentence's source and target, without their ends."""
        sides = zip(self.dictionaries, (batch.source, batch.target), strict=True)
        return [[words[n] for n in tokens[row].tolist() if n not in (self.pad, self.end)] for words, tokens in sides]

    def looks(self, batch: Batch) -> dict[str, dict[str, Tensor]]:
        """By chain and name, where there is to look at, each to be broadcast to B x T x S."""
        source, target = (
            {"punctuation": marks[tokens].unsqueeze(1), "end": tokens.eq(self.end).unsqueeze(1)}
            for marks, tokens in zip(self.punctuation, (batch.source, batch.previous), strict=True)
        )
        return {"encoder": near(batch.source) | source, "decoder": near(batch.previous) | target, CROSS: source}


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
