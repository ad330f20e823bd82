"""Alignment error rate of each attention head, against a manual alignment."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from realformer_nmt.analysis.measures.token_classes import word_of_each
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.text_lines import read_lines

Link = tuple[int, int]  # word of the source, word of the target, from 0
FORM = "allowed are pairs of word numbers from 0, such as 0-0 1-2, and 3p4 for a link that is only possible"


class Links(NamedTuple):
    """Links of one sentence; the possible ones include the sure ones."""

    sure: frozenset[Link]
    possible: frozenset[Link]


def read(file: Path, sentences: int) -> list[Links]:
    lines = read_lines(file)
    if len(lines) != sentences:
        raise UserError(
            f"{file} has {len(lines)} lines, and the text has {sentences} sentences: give a line per sentence"
        )
    return [parse(line, file, number) for number, line in enumerate(lines, 1)]


def parse(line: str, file: Path, number: int) -> Links:
    links: dict[str, set[Link]] = {"-": set(), "p": set()}
    for word in line.split():
        mark = "p" if "p" in word else "-"
        source, _, target = word.partition(mark)
        if not (source.isdecimal() and target.isdecimal()):
            raise UserError(f"{file}, line {number}: {word!r} is not a link; {FORM}")
        links[mark].add((int(source), int(target)))
    return Links(frozenset(links["-"]), frozenset(links["-"] | links["p"]))


class Counts:
    """Counts for AER = 1 - (|A n S| + |A n P|) / (|A| + |S|): Och and Ney 2003, section 5.

    A links each target subword except the end symbol to the source subword with the largest attention weight when the
    head predicts it; there is no link if that is the end symbol. Two words are linked if any of their subwords are.
    """

    def __init__(self, layers: int, heads: int) -> None:
        self.hits = torch.zeros(layers, heads, dtype=torch.long)  # |A n S| + |A n P|
        self.links = torch.zeros(layers, heads, dtype=torch.long)  # |A|
        self.sure = 0

    def add(
        self, layer: int, probabilities: Tensor, source: Sequence[str], target: Sequence[str], links: Links
    ) -> None:
        """Add one sentence in a layer, counted from 1; probabilities are H x T x S, end symbols included."""
        source_words, target_words = word_of_each(list(source)), word_of_each(list(target))
        for head, positions in enumerate(probabilities[:, : len(target)].argmax(-1).tolist()):
            predicted = {
                (source_words[source_index], target_words[target_index])
                for target_index, source_index in enumerate(positions)
                if source_index < len(source)
            }
            self.hits[layer - 1, head] += len(predicted & links.sure) + len(predicted & links.possible)
            self.links[layer - 1, head] += len(predicted)
        if layer == 1:
            self.sure += len(links.sure)

    def rates(self) -> list[list[float]] | None:
        """Return the alignment error rates, layers x heads; None without a link, as if every sentence was left out."""
        links = self.links + self.sure
        rates: list[list[float]] = (1 - self.hits / links.clamp(min=1)).tolist()
        return rates if links.any() else None
