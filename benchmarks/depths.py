"""Beam search with decoders of other depths: how many times as fast as the first of the shapes, in turns on one thread.

python benchmarks/depths.py --shapes 6-6 12-1 6-2 --json docs/results/distillation/speed.json
"""

import argparse
import json
import os
from pathlib import Path

import torch
from contestants import Place, Shape, samples
from generating import generator
from measuring import interleaved, ratios, spread
from resident import alone
from tabulate import tabulate

from realformer_nmt.common.versions import processor, versions
from realformer_nmt.protocols.command import layers

PLACE = Place(torch.device("cpu"), torch.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="+", default=["6-6", "12-1", "6-2"], metavar="N-M")
    parser.add_argument("--family", default="realformer")
    parser.add_argument("--tokens", type=int, default=500, help="of the batch")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, default=Path("depths.json"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    shapes = {name: Shape(*layers(name)) for name in args.shapes}
    together = samples(shapes[args.shapes[0]], PLACE, args.tokens, 1)
    texts = {"single sentences": alone(together), "together": together}
    sentences = len(together[0]["net_input"]["src_tokens"])
    rows = []
    for what, given in texts.items():
        works = {name: generator(args.family, shape, PLACE, given, args.beam) for name, shape in shapes.items()}
        times = interleaved(works, args.rounds, PLACE.device)
        for name, ratio in ratios(times, args.shapes[0]).items():
            seconds = round(spread(times[name]).median, 3)
            rows.append({"layers": name, "what": what, "as fast": str(ratio), "seconds": seconds})
    made = {"versions": versions(), "processor": processor(), "load": os.getloadavg()[0], "rounds": args.rounds}
    made |= {"family": args.family, "beam": args.beam, "sentences": sentences, "rows": rows}
    args.json.write_text(json.dumps(made, indent=1) + "\n")
    print(tabulate(rows, headers="keys"))


if __name__ == "__main__":
    main()
