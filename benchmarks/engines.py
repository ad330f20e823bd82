"""Beam search by stock fairseq, by this package in every precision, and by CTranslate2, on the same weights.

CTranslate2 runs in processes of its own: in one process with it our batches took 1.6 times as long, stock's no longer.

pip install -e '.[bench]'
python benchmarks/engines.py                        # 62 sentences together and single ones, with 1 and 2 threads

One thread is timed by its processor time, several by the clock.
"""

import argparse
import json
import logging
import os
import platform
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from apart import Apart
from contestants import STOCK, Place, Sample, Shape, build, samples
from exported import exported
from generating import generator
from measuring import Work, interleaved, ratios, spread
from resident import alone, resident, weights
from tabulate import tabulate

from realformer_nmt.common.versions import processor, versions

PLACE = Place(torch.device("cpu"), torch.float32)
OURS = ["post_ln", "post_ln, bf16", "post_ln, int8", "realformer, int8"]
THEIRS = {"CTranslate2": "float32", "CTranslate2, int8": "int8"}
Row = dict[str, Any]


def race(shape: Shape, batches: list[Sample], who: list[str], beam: int, rounds: int) -> Iterator[Row]:
    stock = build(STOCK, shape, PLACE).eval().requires_grad_(False)
    for label, given in (("single sentences", alone(batches)), (f"{sentences(batches)} sentences together", batches)):
        works: dict[str, Work] = {name: generator(name, shape, PLACE, given, beam, stock) for name in (STOCK, *who)}
        asked = (shape, given, beam, torch.get_num_threads())
        works |= {name: Apart(ctranslate2, kind, *asked) for name, kind in THEIRS.items()}
        times = interleaved(works, rounds, PLACE.device)
        for name, ratio in ratios(times, STOCK).items():
            threads, seconds = torch.get_num_threads(), round(spread(times[name]).median, 3)
            yield {"what": label, "threads": threads, "engine": name, "against stock": str(ratio), "seconds": seconds}
        del works


def ctranslate2(precision: str, shape: Shape, given: list[Sample], beam: int, threads: int) -> Work:
    logging.disable(logging.INFO)
    torch.set_num_threads(threads)
    stock = build(STOCK, shape, PLACE).eval().requires_grad_(False)  # the same each time: its seed is fixed
    return exported(stock, shape, given, beam, precision)


def sentences(batches: list[Sample]) -> int:
    return sum(len(batch["net_input"]["src_tokens"]) for batch in batches)


def memory(shape: Shape, who: list[str], tokens: int, beam: int) -> Iterator[Row]:
    whole = weights(shape)
    for name in who:
        kept = resident(name, shape, tokens, beam)
        yield {"engine": name, "MB": round(kept / 1e6), "of stock's weights": round(kept / whole, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", nargs="*", default=OURS, help="families, with a precision behind a comma")
    parser.add_argument("--threads", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--tokens", type=int, default=1500, help="of the batch")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, default=Path("engines.json"))
    args = parser.parse_args()
    logging.disable(logging.INFO)
    shape = Shape(6, 6)
    batches = samples(shape, PLACE, args.tokens, 1)
    made: Row = {"versions": {**versions(), "ctranslate2": version("ctranslate2")}, "python": platform.python_version()}
    made |= {"processor": processor(), "cores": os.cpu_count(), "load": os.getloadavg()[0], "rounds": args.rounds}
    made |= {"speed": [], "memory": []}
    for threads in args.threads:
        torch.set_num_threads(threads)
        record(made, "speed", race(shape, batches, args.ours, args.beam, args.rounds), args.json)
    record(made, "memory", memory(shape, args.ours, args.tokens, args.beam), args.json)
    print(*(tabulate(made[name], headers="keys") for name in ("speed", "memory")), sep="\n\n")


def record(made: Row, name: str, rows: Iterable[Row], file: Path) -> None:
    """As they come: a race takes long."""
    for row in rows:
        made[name].append(row)
        file.write_text(json.dumps(made, indent=1) + "\n")
        print(row, flush=True)


if __name__ == "__main__":
    main()
