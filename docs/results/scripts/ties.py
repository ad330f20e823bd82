"""Compare this package's beam search with stock fairseq's in fp32: where they differ, and by how much in fp64.

python docs/results/scripts/ties.py RUN... --json docs/results/ties.json   # post_ln and pre_ln, on their test sets

Stock's transformer, in fp64 and without a search, scores what both wrote. As a measure of what rounding does by itself,
stock also decodes in smaller batches. Scores are natural logarithms.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from searches import Engines, Hypotheses, Pair, Search, Tokens, swapped, swaps, tokens_of, total_scores
from torch import Tensor

from realformer_nmt.common.stages.versions import hardware, versions
from realformer_nmt.kernels.native.library import state

Row = dict[str, Any]


class Way(NamedTuple):
    joined: int  # sentences to one
    beam: int
    longest: int  # tokens of a hypothesis


class Decoded(NamedTuple):
    """Hypotheses of two decodings in fp32 for a sentence."""

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

    def add(self, decoded: Decoded) -> None:
        decoded.judge(self.engines.judge)
        self.swapped.append(widest([*chain(*decoded.swaps.values())], decoded.exact))
        self.errors += decoded.errors()
        if differing := ranks(decoded.one, decoded.stock):
            self.differ += len(differing)
            look = {"sentence": decoded.number, "ranks": differing, **compare(decoded, differing[0])}
            sure = in_fp64(self.engines, decoded, self.way)
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


def compare(decoded: Decoded, rank: int) -> Row:
    """Score both hypotheses of a rank, and those that both lists have but in opposite order."""
    lines = [list(map(tokens_of, each)) for each in (decoded.one, decoded.stock)]
    shared = set(lines[0]) & set(lines[1])
    ordered = swapped(*([each for each in line if each in shared] for line in lines))
    means = {tokens: score / len(tokens) for tokens, score in decoded.exact.items()}
    shown = {
        name: {"fp32": float(each[rank]["score"]), "fp64": means[tokens_of(each[rank])]}
        for name, each in (("one", decoded.one), ("stock", decoded.stock))
    }
    return {**shown, "order": widest(ordered, means), "steps": list(decoded.swaps)}


def widest(pairs: list[Pair], scores: Mapping[Tokens, float]) -> Row:
    """Describe the pair that is furthest apart in fp64: its margin, and the spacing of fp32's numbers at its score."""
    if not pairs:
        return {"pairs": 0}
    one, other = max(pairs, key=lambda pair: abs(scores[pair[0]] - scores[pair[1]]))
    spacing = float(np.spacing(np.float32(abs(scores[one]))))
    return {"pairs": len(pairs), "margin": abs(scores[one] - scores[other]), "score": scores[one], "spacing": spacing}


def in_fp64(engines: Engines, decoded: Decoded, way: Way) -> Row:
    """Search in fp64 with both engines: whether they agree there, and whose hypotheses in fp32 are the same."""
    package, stocks = (
        [*map(tokens_of, engines.alone(f"{name}, fp64", decoded.text, way.beam, way.longest))]
        for name in ("ours", "stock")
    )
    lists = {"one": decoded.one, "stock": decoded.stock}
    right = [name for name, each in lists.items() if [*map(tokens_of, each)] == stocks]
    return {"same in fp64": package == stocks, "as in fp64": right}


WAYS = {"sentences": Way(1, 20, 60), "long": Way(6, 20, 160), "wide": Way(1, 100, 60)}
BATCH, SMALLER = 4000, 1000  # tokens
COMPARED = {
    "ours": ("ours", BATCH),
    "ours, smaller batches": ("ours", SMALLER),
    "stock, smaller batches": ("stock", SMALLER),
}


def measure(engines: Engines, texts: list[Tensor], way: Way) -> Row:
    comparisons = {name: Comparison(engines, way) for name in COMPARED}
    baseline, hypotheses = Comparison(engines, way), 0  # of stock with itself
    for sample in engines.batches(texts, BATCH):
        numbered = {number: texts[number] for number in sample["id"].tolist()}
        exact: dict[int, dict[Tokens, float]] = {number: {} for number in numbered}
        stock, written = decode(engines, "stock", numbered, way, BATCH)
        for number, n_best in written.items():
            hypotheses += len(n_best)
            baseline.add(Decoded(number, texts[number], n_best, n_best, {}, exact[number]))
        for name, (engine, tokens) in COMPARED.items():
            search, lists = decode(engines, engine, numbered, way, tokens)
            for number, n_best in lists.items():
                there = dict(swaps(search, stock, number))
                comparisons[name].add(Decoded(number, texts[number], n_best, written[number], there, exact[number]))
    against = {name: comparison.row() for name, comparison in comparisons.items()}
    counts = {"sentences": len(texts), "hypotheses": hypotheses}
    return {**counts, "rounding of stock": rounding(baseline.errors), "against stock": against}


def decode(
    engines: Engines, name: str, texts: Mapping[int, Tensor], way: Way, tokens: int
) -> tuple[Search, dict[int, Hypotheses]]:
    """Decode numbered texts in batches of so many tokens."""
    search, numbers = engines.search(name, way.beam, way.longest), torch.tensor(list(texts))
    written: dict[int, Hypotheses] = {}
    for sample in engines.batches(list(texts.values()), tokens):
        sample["id"] = numbers[sample["id"]]
        written |= zip(sample["id"].tolist(), search.decode(sample), strict=True)
    return search, written


def rows(runs: Iterable[Path], ways: Iterable[str], subset: str, most: int) -> Iterable[Row]:
    for run in runs:
        engines = Engines.load(run)
        for way in ways:
            joined = WAYS[way].joined
            figures = measure(engines, engines.texts(subset, joined)[: most // joined], WAYS[way])
            differ = {name: each["differ"] for name, each in figures["against stock"].items()}
            print(f"{run.name}, {way}: of {figures['hypotheses']} hypotheses differ {differ}", flush=True)
            yield {"way": way, **WAYS[way]._asdict(), **engines.description, **figures}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folder or checkpoint")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--subset", default="test")
    parser.add_argument("--sentences", type=int, default=1000, help="of the subset, at most")
    parser.add_argument("--json", type=Path, default=Path("ties.json"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    record: Row = {"versions": versions(), "hardware": hardware(), "own kernels": state()}
    record |= {"subset": args.subset, "tokens of a batch": BATCH, "smaller": SMALLER, "rows": []}
    for row in rows(args.runs, args.ways, args.subset, args.sentences):
        record["rows"].append(row)
        args.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
