"""Where this package's beam search and stock fairseq's differ in fp32, and how far apart in fp64 what they swap is.

python benchmarks/ties.py RUN... --json docs/results/ties.json      # runs of post_ln and pre_ln, on their test sets

Stock's transformer, in fp64 and without a search, scores what both wrote. As a measure of what rounding does by itself,
stock also decodes in smaller batches. Scores are natural logarithms.
"""

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import torch
from judging import Comparison, Decoded, Row, Way, rounding
from searches import Engines, Hypotheses, Search, Tokens, swaps
from torch import Tensor

from realformer_nmt.common.versions import hardware, versions
from realformer_nmt.kernels.native.library import state

WAYS = {"sentences": Way(1, 20, 60), "long": Way(6, 20, 160), "wide": Way(1, 100, 60)}
BATCH, SMALLER = 4000, 1000  # tokens
COMPARED = {
    "ours": ("ours", BATCH),
    "ours, smaller batches": ("ours", SMALLER),
    "stock, smaller batches": ("stock", SMALLER),
}


def measure(engines: Engines, texts: list[Tensor], way: Way) -> Row:
    comparisons = {name: Comparison(engines, way) for name in COMPARED}
    own, hypotheses = Comparison(engines, way), 0  # of stock with itself
    for sample in engines.batches(texts, BATCH):
        numbered = {number: texts[number] for number in sample["id"].tolist()}
        exact: dict[int, dict[Tokens, float]] = {number: {} for number in numbered}
        stock, written = decode(engines, "stock", numbered, way, BATCH)
        for number, found in written.items():
            hypotheses += len(found)
            own.add(Decoded(number, texts[number], found, found, {}, exact[number]))
        for name, (engine, tokens) in COMPARED.items():
            search, lists = decode(engines, engine, numbered, way, tokens)
            for number, found in lists.items():
                there = dict(swaps(search, stock, number))
                comparisons[name].add(Decoded(number, texts[number], found, written[number], there, exact[number]))
    against = {name: comparison.row() for name, comparison in comparisons.items()}
    counts = {"sentences": len(texts), "hypotheses": hypotheses}
    return {**counts, "rounding of stock": rounding(own.errors), "against stock": against}


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
            found = measure(engines, engines.texts(subset, joined)[: most // joined], WAYS[way])
            differ = {name: each["differ"] for name, each in found["against stock"].items()}
            print(f"{run.name}, {way}: of {found['hypotheses']} hypotheses differ {differ}", flush=True)
            yield {"way": way, **WAYS[way]._asdict(), **engines.description, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folder or checkpoint")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--subset", default="test")
    parser.add_argument("--sentences", type=int, default=1000, help="of the subset, at most")
    parser.add_argument("--json", type=Path, default=Path("ties.json"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    made: Row = {"versions": versions(), "hardware": hardware(), "own kernels": state()}
    made |= {"subset": args.subset, "tokens of a batch": BATCH, "smaller": SMALLER, "rows": []}
    for row in rows(args.runs, args.ways, args.subset, args.sentences):
        made["rows"].append(row)
        args.json.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
