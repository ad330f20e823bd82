"""What two decodings of a sentence differ in, judged in fp64."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from doubled import total_scores
from searches import Engines, Hypotheses, Pair, Tokens, swapped, tokens_of
from torch import Tensor

Row = dict[str, Any]


class Way(NamedTuple):
    joined: int  # sentences to one
    beam: int
    longest: int  # tokens of a hypothesis


class Decoded(NamedTuple):
    """What two decodings in fp32 wrote for a sentence."""

    number: int
    text: Tensor
    one: Hypotheses
    stock: Hypotheses
    swaps: dict[int, list[Pair]]  # by step the candidates that they rank the other way round
    exact: dict[Tokens, float]  # totals in fp64, of this sentence in all comparisons

    def judge(self, model: Any) -> None:
        """Score in fp64 what is not scored yet."""
        tokens = {*map(tokens_of, [*self.one, *self.stock]), *chain(*chain(*self.swaps.values()))}
        self.exact.update(total_scores(model, self.text, tokens - self.exact.keys()))

    def errors(self) -> Iterator[tuple[float, int]]:
        """Yield how far each score of the first is from the exact one, and the length that it was divided by."""
        for each in self.one:
            length = len(each["tokens"])
            yield abs(float(each["score"]) - self.exact[tokens_of(each)] / length), length


class Comparison:
    """A decoding against stock's: what differs, what both swap, and how far the first is from the scores in fp64."""

    def __init__(self, engines: Engines, way: Way) -> None:
        self.engines, self.way = engines, way
        self.differ = 0
        self.errors: list[tuple[float, int]] = []
        self.swapped: list[Row] = []
        self.differences: list[Row] = []

    def add(self, found: Decoded) -> None:
        found.judge(self.engines.judge)
        self.swapped.append(widest([*chain(*found.swaps.values())], found.exact))
        self.errors += found.errors()
        if differing := ranks(found.one, found.stock):
            self.differ += len(differing)
            look = {"sentence": found.number, "ranks": differing, **compare(found, differing[0])}
            sure = in_fp64(self.engines, found, self.way)
            self.differences.append({**look, "candidates": self.swapped[-1], **sure})

    def row(self) -> Row:
        counted = {"differ": self.differ, "swapped": overall(self.swapped), "rounding": rounding(self.errors)}
        return {**counted, "differences": self.differences}


def overall(each: list[Row]) -> Row:
    """Return the widest of all sentences' pairs, with the number of all pairs."""
    widest_of_all: Row = max(each, key=lambda row: float(row.get("margin", 0.0)))
    return {**widest_of_all, "pairs": sum(row["pairs"] for row in each)}


def rounding(errors: list[tuple[float, int]]) -> Row:
    """Describe the errors of the scores, and of the totals that they are the means of."""
    scores, lengths = np.array(errors).T
    kinds = {"scores": scores, "totals": scores * lengths}
    return {kind: {"median": float(np.median(each)), "most": float(each.max())} for kind, each in kinds.items()}


def ranks(one: Hypotheses, other: Hypotheses) -> list[int]:
    """Return the places of two n-best lists that hold different hypotheses."""
    pairs = zip(map(tokens_of, one), map(tokens_of, other), strict=True)
    return [rank for rank, (a, b) in enumerate(pairs) if a != b]


def compare(found: Decoded, rank: int) -> Row:
    """Score both hypotheses of a rank, and those that both lists have but in opposite order."""
    lines = [list(map(tokens_of, each)) for each in (found.one, found.stock)]
    shared = set(lines[0]) & set(lines[1])
    ordered = swapped(*([each for each in line if each in shared] for line in lines))
    means = {tokens: score / len(tokens) for tokens, score in found.exact.items()}
    shown = {
        name: {"fp32": float(each[rank]["score"]), "fp64": means[tokens_of(each[rank])]}
        for name, each in (("one", found.one), ("stock", found.stock))
    }
    return {**shown, "order": widest(ordered, means), "steps": list(found.swaps)}


def widest(pairs: list[Pair], scores: Mapping[Tokens, float]) -> Row:
    """Describe the pair that is furthest apart in fp64: its margin, and the spacing of fp32's numbers at its score."""
    if not pairs:
        return {"pairs": 0}
    one, other = max(pairs, key=lambda pair: abs(scores[pair[0]] - scores[pair[1]]))
    spacing = float(np.spacing(np.float32(abs(scores[one]))))
    return {"pairs": len(pairs), "margin": abs(scores[one] - scores[other]), "score": scores[one], "spacing": spacing}


def in_fp64(engines: Engines, found: Decoded, way: Way) -> Row:
    """Search in fp64 with both engines: whether they agree there, and whose hypotheses in fp32 are the same."""
    ours, stocks = (
        [*map(tokens_of, engines.alone(f"{name}, fp64", found.text, way.beam, way.longest))]
        for name in ("ours", "stock")
    )
    lists = {"one": found.one, "stock": found.stock}
    right = [name for name, each in lists.items() if [*map(tokens_of, each)] == stocks]
    return {"same in fp64": ours == stocks, "as in fp64": right}
