"""Where this package's beam search and stock fairseq's differ in fp32, and how far apart in fp64 what they swap is.

python benchmarks/ties.py RUN... --json docs/results/ties.json      # runs of post_ln and pre_ln, on their test sets

Stock's transformer, in fp64 and without a search, scores what both wrote. As a measure of what rounding does by itself,
stock also decodes in smaller batches. Scores are natural logarithms.
"""

import argparse
import json
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from doubled import total_scores
from searches import Engines, Hypotheses, Pair, Tokens, swapped, swaps, tokens_of
from torch import Tensor

from realformer_nmt.common.versions import hardware, versions
from realformer_nmt.kernels.native.library import state

WAYS = {"beam 20": (1, 20), "long": (6, 5)}  # sentences joined to one, and the beam
BATCH, SMALLER = 4000, 1000  # tokens
Row = dict[str, Any]


def measure(engines: Engines, texts: list[Tensor], beam: int) -> Row:
    """Decode all texts with both engines, judge every hypothesis, and look into the sentences that differ."""
    errors: dict[str, list[float]] = {"ours": [], "stock": []}
    row: Row = {"sentences": len(texts), "hypotheses": 0, "differ": 0, "differ, smaller batches": 0, "differences": []}
    for sample in engines.batches(texts, BATCH):
        searches = {name: engines.search(name, beam) for name in errors}
        answers = {name: search.decode(sample) for name, search in searches.items()}
        numbers = sample["id"].tolist()
        again = in_smaller_batches(engines, {number: texts[number] for number in numbers}, beam)
        for place, number in enumerate(numbers):
            text, lists = texts[number], {name: found[place] for name, found in answers.items()}
            exact = total_scores(engines.judge, text, map(tokens_of, chain(*lists.values())))
            for name, hypotheses in lists.items():
                errors[name] += [abs(rounded_total(each) - exact[tokens_of(each)]) for each in hypotheses]
            row["hypotheses"] += len(lists["ours"])
            row["differ, smaller batches"] += len(ranks(again[number], lists["stock"]))
            if differing := ranks(*lists.values()):
                row["differ"] += len(differing)
                pairs = list(swaps(searches["ours"], searches["stock"], place))
                look = {"sentence": number, "ranks": differing, **compare(engines.judge, text, lists, pairs)}
                row["differences"].append({**look, **in_fp64(engines, text, beam, lists)})
    row["rounding"] = {name: {"median": float(np.median(each)), "most": max(each)} for name, each in errors.items()}
    return row


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


def rounded_total(hypothesis: dict[str, Tensor]) -> float:
    """Return the sum of its log-probabilities, as the search has it in fp32 and divides it by the length."""
    return float(hypothesis["score"].double()) * len(hypothesis["tokens"])


def compare(judge: Any, text: Tensor, lists: Mapping[str, Hypotheses], steps: list[tuple[int, list[Pair]]]) -> Row:
    """Score both hypotheses of the first rank that differs, and all pairs that the engines rank the other way round."""
    pairs = list(chain.from_iterable(swapped_there for _, swapped_there in steps))
    lines = [list(map(tokens_of, found)) for found in lists.values()]
    shared = set(lines[0]) & set(lines[1])
    ordered = swapped(*([each for each in line if each in shared] for line in lines))
    exact = total_scores(judge, text, {*chain(*pairs), *chain(*lines)})
    means = {tokens: score / len(tokens) for tokens, score in exact.items()}
    first = ranks(*lists.values())[0]
    shown = {
        name: {"fp32": float(found[first]["score"]), "fp64": means[tokens_of(found[first])]}
        for name, found in lists.items()
    }
    searched = {"steps": [step for step, _ in steps], **widest(pairs, exact)}
    return {**shown, "candidates": searched, "order": widest(ordered, means)}


def widest(pairs: list[Pair], scores: Mapping[Tokens, float]) -> Row:
    """Describe the pair that is furthest apart in fp64: its margin, and the spacing of fp32's numbers at its score."""
    if not pairs:
        return {"pairs": 0}
    one, other = max(pairs, key=lambda pair: abs(scores[pair[0]] - scores[pair[1]]))
    spacing = float(np.spacing(np.float32(abs(scores[one]))))
    return {"pairs": len(pairs), "margin": abs(scores[one] - scores[other]), "score": scores[one], "spacing": spacing}


def in_fp64(engines: Engines, text: Tensor, beam: int, lists: Mapping[str, Hypotheses]) -> Row:
    """Search in fp64 with both engines: whether they agree there, and whose hypotheses in fp32 are the same."""
    exact = {name: [*map(tokens_of, engines.alone(f"{name}, fp64", text, beam))] for name in lists}
    right = [name for name, found in lists.items() if [*map(tokens_of, found)] == exact["stock"]]
    return {"same in fp64": exact["ours"] == exact["stock"], "as in fp64": right}


def rows(runs: Iterable[Path], subset: str, most: int) -> Iterable[Row]:
    for run in runs:
        engines = Engines.load(run)
        for way, (joined, beam) in WAYS.items():
            found = measure(engines, engines.texts(subset, joined)[:most], beam)
            print(f"{run.name}, {way}: {found['differ']} of {found['hypotheses']} hypotheses differ", flush=True)
            yield {"run": run.name, "way": way, "joined": joined, "beam": beam, **engines.description, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folder or checkpoint")
    parser.add_argument("--subset", default="test")
    parser.add_argument("--sentences", type=int, default=500, help="of each way, at most")
    parser.add_argument("--json", type=Path, default=Path("ties.json"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    made: Row = {"versions": versions(), "hardware": hardware(), "own kernels": state()}
    made |= {
        "subset": args.subset,
        "tokens of a batch": BATCH,
        "smaller": SMALLER,
        "rows": list(rows(args.runs, args.subset, args.sentences)),
    }
    args.json.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
