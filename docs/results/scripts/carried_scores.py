"""RealFormer's running mean two ways: scores that are carried, and the queries and keys of all layers side by side.

PYTHONPATH=benchmarks python docs/results/scripts/carried_scores.py carried_scores.json

The sum of Q_j K_j^T over layers is [Q_1 .. Q_l] [K_1 .. K_l]^T. So torch's own kernel can compute the attention of
layer l from longer queries and keys, and no scores are kept. It wants values as wide as keys: they are padded.
"""

import argparse
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import torch
from timing import Work, peak_bytes, seconds
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from realformer_nmt.common.stages.versions import versions

HEADS, WIDTH = 8, 64
SCALE = WIDTH**-0.5
TRIED = [(layers, length) for layers in (6, 18) for length in (1024, 2048, 4096) if layers * length <= 18 * 2048]


class Projected(NamedTuple):
    """One layer's queries, keys and values, each 1 x H x T x D."""

    query: Tensor
    key: Tensor
    value: Tensor


def projections(layers: int, length: int) -> list[Projected]:
    torch.manual_seed(1)
    return [
        Projected(*(torch.randn(1, HEADS, length, WIDTH, requires_grad=True) for _ in Projected._fields))
        for _ in range(layers)
    ]


def by_scores(chain: list[Projected]) -> Iterator[Tensor]:
    """Yield each layer's heads, as the package computes them."""
    raw = (SCALE * layer.query @ layer.key.transpose(-1, -2) for layer in chain)
    for depth, (total, layer) in enumerate(zip(itertools.accumulate(raw), chain, strict=True), 1):
        yield (total / depth).softmax(-1) @ layer.value


def by_keys(chain: list[Projected]) -> Iterator[Tensor]:
    """Yield each layer's heads, by torch's kernel alone."""
    for depth, layer in enumerate(chain, 1):
        query = torch.cat([below.query for below in chain[:depth]], -1)  # 1 x H x T x lD
        key = torch.cat([below.key for below in chain[:depth]], -1)
        value = pad(layer.value, (0, query.size(-1) - WIDTH))
        yield scaled_dot_product_attention(query, key, value, scale=SCALE / depth)[..., :WIDTH]


WAYS: dict[str, Callable[[list[Projected]], Iterator[Tensor]]] = {"scores": by_scores, "queries and keys": by_keys}


def update(way: str, layers: int, length: int) -> Work:
    chain = projections(layers, length)
    return lambda: sum((heads.square().sum() for heads in WAYS[way](chain)), torch.zeros(())).backward()


def difference(layers: int, length: int) -> float:
    """Return the largest difference of the two ways' heads."""
    chain = projections(layers, length)
    with torch.no_grad():
        pairs = zip(by_scores(chain), by_keys(chain), strict=True)
        return max(float((one - other).abs().max()) for one, other in pairs)


def cost_of(way: str, layers: int, length: int) -> dict[str, object]:
    device = torch.device("cpu")
    spent = seconds(update(way, layers, length), device)
    return {
        "way": way,
        "layers": layers,
        "length": length,
        "seconds": spent,
        "bytes": peak_bytes(lambda: update(way, layers, length), device),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the record")
    args = parser.parse_args()
    torch.set_num_threads(1)
    record = {
        "made_from": {"heads": HEADS, "width": WIDTH, "dropout": 0.0},
        "versions": versions(),
        "largest_difference": difference(18, 1024),
        "rows": [cost_of(way, *tried) for tried in TRIED for way in WAYS],
    }
    args.file.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
