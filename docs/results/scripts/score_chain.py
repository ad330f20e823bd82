"""A step of RealFormer whose backward pass computes scores again, beside steps that store scores, or check-point.

PYTHONPATH=benchmarks python docs/results/scripts/score_chain.py score_chain.json
"""

import argparse
import functools
import json
from pathlib import Path
from typing import Any

import torch
from timing import Work, interleaved, peak_bytes, ratios
from torch.nn.functional import cross_entropy

from realformer_nmt.common.stages.versions import versions
from realformer_nmt.model.attention.attention import Attention
from realformer_nmt.model.models.meta_model import skeleton
from realformer_nmt.model.presets import FAMILIES

LAYERS, WIDTH, WORDS, ROUNDS = 18, 256, 1000, 5
SHAPES = ((16, 64), (4, 256), (2, 512))  # rows, tokens in each
WAYS = ("stored", "computed again", "check-pointed")
CPU = torch.device("cpu")


def update(way: str, rows: int, length: int) -> Work:
    sides = {"layers": LAYERS, "embed_dim": WIDTH, "ffn_embed_dim": 4 * WIDTH, "attention_heads": WIDTH // 64}
    size = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in sides.items()}
    options = {**FAMILIES["realformer"], **size, "dropout": 0.1, "attention_dropout": 0.1}
    options["checkpoint_activations"] = way == "check-pointed"
    torch.manual_seed(1)
    model = skeleton(argparse.Namespace(**options), WORDS, WORDS).train()
    for attention in (module for module in model.modules() if isinstance(module, Attention)):
        if way != "computed again":
            vars(attention).update(_chain=attention._compose)
    tokens = torch.randint(4, WORDS, (rows, length))

    def work() -> None:
        model.zero_grad()
        torch.manual_seed(2)
        cross_entropy(model(tokens, None, tokens)[0].flatten(0, 1), tokens.flatten()).backward()

    return work


def row(rows: int, length: int) -> dict[str, Any]:
    """Return each way's time and peak memory as multiples of those of stored scores."""
    times = interleaved({way: update(way, rows, length) for way in WAYS}, ROUNDS, CPU)
    speeds = ratios(times, "stored")
    peaks = {way: peak_bytes(functools.partial(update, way, rows, length), CPU) for way in WAYS}
    return {"rows": rows, "length": length, "times": {way: 1 / speeds[way].median for way in WAYS}, "bytes": peaks}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the record")
    args = parser.parse_args()
    torch.set_num_threads(1)
    record: dict[str, Any] = {"made_from": {"layers": LAYERS, "width": WIDTH}, "versions": versions(), "rows": []}
    for shape in SHAPES:
        record["rows"].append(row(*shape))
        args.file.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
