"""Attention against an alignment by hand: the alignment error rate of each head."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from realformer_nmt.analysis.words import word_of_each
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.text_lines import read_lines

Link = tuple[int, int]  # word of the source, word of the target, from 0
FORM = "allowed are pairs of words between spaces, from 0, such as 0-0 1-2, and 3p4 for one that is only possible"


class Links(NamedTuple):
    """Of a sentence. Sure ones are possible as well."""

    sure: frozenset[Link]
    possible: frozenset[Link]


def read(file: Path, sentences: int) -> list[Links]:
    lines = read_lines(file)
    if len(lines) != sentences:
        raise UserError(f"{file} has {len(lines)} lines, and the text {sentences} sentences: one line for each")
    return [parse(line, file, number) for number, line in enumerate(lines, 1)]


def parse(line: str, file: Path, number: int) -> Links:
    found: dict[str, set[Link]] = {"-": set(), "p": set()}
    for word in line.split():
        mark = "p" if "p" in word else "-"
        source, _, target = word.partition(mark)
        if not (source.isdecimal() and target.isdecimal()):
            raise UserError(f"{file}, line {number}: {word!r} is no link; {FORM}")
        found[mark].add((int(source), int(target)))
    return Links(frozenset(found["-"]), frozenset(found["-"] | found["p"]))


class Counts:
    """AER = 1 - (|A n S| + |A n P|) / (|A| + |S|): Och and Ney 2003, section 5. A has a link for each piece of the
    target, but its end, from where a head looks most when it predicts that piece; none where that is the end of the
    source. Words are linked whose pieces are."""

    def __init__(self, layers: int, heads: int) -> None:
        self.hits = torch.zeros(layers, heads, dtype=torch.long)  # |A n S| + |A n P|
        self.links = torch.zeros(layers, heads, dtype=torch.long)  # |A|
        self.sure = 0

    def add(
        self, layer: int, probabilities: Tensor, source: Sequence[str], target: Sequence[str], links: Links
    ) -> None:
        """Of one sentence in a layer from 1: H x T x S over its pieces, the ends of both included."""
        words = word_of_each(list(source)), word_of_each(list(target))
        for head, looked in enumerate(probabilities[:, : len(target)].argmax(-1).tolist()):
            found = {(words[0][at], words[1][place]) for place, at in enumerate(looked) if at < len(source)}
            self.hits[layer - 1, head] += len(found & links.sure) + len(found & links.possible)
            self.links[layer - 1, head] += len(found)
        self.sure += len(links.sure) if layer == 1 else 0

    def rate(self) -> Tensor:
        """layers x heads"""
        return 1 - self.hits / (self.links + self.sure).clamp(min=1)
