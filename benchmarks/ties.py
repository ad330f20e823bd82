"""Where this package's beam search and stock fairseq's differ in fp32, and how far apart in fp64 what they swap is.

python benchmarks/ties.py RUN... --json docs/results/ties.json      # runs of post_ln and pre_ln, on their test sets

Stock's transformer, in fp64 and without a search, scores what both wrote. As a measure of what rounding does by itself,
stock also decodes in smaller batches. Scores are natural logarithms.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from doubled import total_scores
from searches import Engines, Hypotheses, Pair, Tokens, swapped, swaps, tokens_of
from torch import Tensor

from realformer_nmt.common.versions import hardware, versions
from realformer_nmt.kernels.native.library import state

WAYS = {"sentences": (1, 20), "long": (6, 20)}  # sentences joined to one, and the beam
BATCH, SMALLER = 4000, 1000  # tokens
NAMES = ("ours", "stock")
Row = dict[str, Any]


class Decoded(NamedTuple):
    """What was written for a sentence in fp32."""

    number: int
    text: Tensor
    lists: dict[str, Hypotheses]  # of both engines
    again: Hypotheses  # of stock in smaller batches
    swaps: dict[int, list[Pair]]  # by step the candidates that the engines rank the other way round

    def errors(self, name: str, exact: Mapping[Tokens, float]) -> Iterator[tuple[float, int]]:
        """Yield how far each score of an engine is from the exact one, and the length that it was divided by."""
        for each in self.lists[name]:
            length = len(each["tokens"])
            yield abs(float(each["score"]) - exact[tokens_of(each)] / length), length


def decode(engines: Engines, texts: list[Tensor], beam: int) -> Iterator[Decoded]:
    for sample in engines.batches(texts, BATCH):
        searches = {name: engines.search(name, beam) for name in NAMES}
        answers = {name: search.decode(sample) for name, search in searches.items()}
        numbers = sample["id"].tolist()
        again = in_smaller_batches(engines, {number: texts[number] for number in numbers}, beam)
        for place, number in enumerate(numbers):
            lists = {name: found[place] for name, found in answers.items()}
            swapped_there = dict(swaps(searches["ours"], searches["stock"], number))
            yield Decoded(number, texts[number], lists, again[number], swapped_there)


def measure(engines: Engines, texts: list[Tensor], beam: int) -> Row:
    """Count what differs, judge every hypothesis, and look into the sentences that differ."""
    counts: Counter[str] = Counter()
    errors: dict[str, list[tuple[float, int]]] = {name: [] for name in NAMES}
    swapped_candidates, differences = [], []
    for found in decode(engines, texts, beam):
        ours, stocks = found.lists.values()
        pairs = [*chain(*found.swaps.values())]
        exact = total_scores(engines.judge, found.text, chain(map(tokens_of, [*ours, *stocks]), *pairs))
        swapped_candidates.append(widest(pairs, exact))
        for name in NAMES:
            errors[name] += found.errors(name, exact)
        differing = ranks(ours, stocks)
        counts.update(hypotheses=len(ours), differ=len(differing), again=len(ranks(found.again, stocks)))
        if differing:
            look = {"sentence": found.number, "ranks": differing, **compare(found, differing[0], exact)}
            differences.append({**look, "candidates": swapped_candidates[-1], **in_fp64(engines, found, beam)})
    rounded = {name: rounding(each) for name, each in errors.items()}
    counted = {"sentences": len(texts), **counts, "swapped": overall(swapped_candidates)}
    return {**counted, "rounding": rounded, "differences": differences}


def overall(each: list[Row]) -> Row:
    """Return the widest of all sentences' pairs, with the number of all pairs."""
    widest_of_all: Row = max(each, key=lambda row: float(row.get("margin", 0.0)))
    return {**widest_of_all, "pairs": sum(row["pairs"] for row in each)}


def rounding(errors: list[tuple[float, int]]) -> Row:
    """Describe the errors of the scores, and of the totals that they are the means of."""
    scores, lengths = np.array(errors).T
    kinds = {"scores": scores, "totals": scores * lengths}
    return {kind: {"median": float(np.median(each)), "most": float(each.max())} for kind, each in kinds.items()}


def in_smaller_batches(engines: Engines, texts: Mapping[int, Tensor], beam: int) -> dict[int, Hypotheses]:
    """Decode by stock what was one batch, as several."""
    numbers, search = list(texts), engines.search("stock", beam)
    samples = engines.batches(list(texts.values()), SMALLER)
    return {
        numbers[place]: found
        for sample in samples
        for place, found in zip(sample["id"].tolist(), search.decode(sample), strict=True)
    }


def ranks(one: Hypotheses, other: Hypotheses) -> list[int]:
    """Return the places of two n-best lists that hold different hypotheses."""
    pairs = zip(map(tokens_of, one), map(tokens_of, other), strict=True)
    return [rank for rank, (a, b) in enumerate(pairs) if a != b]


def compare(found: Decoded, rank: int, exact: Mapping[Tokens, float]) -> Row:
    """Score both hypotheses of a rank, and those that both lists have but in opposite order."""
    lines = [list(map(tokens_of, each)) for each in found.lists.values()]
    shared = set(lines[0]) & set(lines[1])
    ordered = swapped(*([each for each in line if each in shared] for line in lines))
    means = {tokens: score / len(tokens) for tokens, score in exact.items()}
    shown = {
        name: {"fp32": float(each[rank]["score"]), "fp64": means[tokens_of(each[rank])]}
        for name, each in found.lists.items()
    }
    return {**shown, "order": widest(ordered, means), "steps": list(found.swaps)}


def widest(pairs: list[Pair], scores: Mapping[Tokens, float]) -> Row:
    """Describe the pair that is furthest apart in fp64: its margin, and the spacing of fp32's numbers at its score."""
    if not pairs:
        return {"pairs": 0}
    one, other = max(pairs, key=lambda pair: abs(scores[pair[0]] - scores[pair[1]]))
    spacing = float(np.spacing(np.float32(abs(scores[one]))))
    return {"pairs": len(pairs), "margin": abs(scores[one] - scores[other]), "score": scores[one], "spacing": spacing}


def in_fp64(engines: Engines, found: Decoded, beam: int) -> Row:
    """Search in fp64 with both engines: whether they agree there, and whose hypotheses in fp32 are the same."""
    exact = {name: [*map(tokens_of, engines.alone(f"{name}, fp64", found.text, beam))] for name in NAMES}
    right = [name for name, each in found.lists.items() if [*map(tokens_of, each)] == exact["stock"]]
    return {"same in fp64": exact["ours"] == exact["stock"], "as in fp64": right}


def rows(runs: Iterable[Path], subset: str, most: int) -> Iterable[Row]:
    for run in runs:
        engines = Engines.load(run)
        for way, (joined, beam) in WAYS.items():
            found = measure(engines, engines.texts(subset, joined)[: most // joined], beam)
            print(f"{run.name}, {way}: {found['differ']} of {found['hypotheses']} hypotheses differ", flush=True)
            yield {"way": way, "joined": joined, "beam": beam, **engines.description, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folder or checkpoint")
    parser.add_argument("--subset", default="test")
    parser.add_argument("--sentences", type=int, default=1000, help="of the subset, at most")
    parser.add_argument("--json", type=Path, default=Path("ties.json"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    made: Row = {"versions": versions(), "hardware": hardware(), "own kernels": state()}
    made |= {"subset": args.subset, "tokens of a batch": BATCH, "smaller": SMALLER, "rows": []}
    for row in rows(args.runs, args.subset, args.sentences):
        made["rows"].append(row)
        args.json.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
