"""Synthesizers: one self-attention of the authors' of each kind that their code has.

Their two random factors have no place for the query, so that all positions see alike; the paper's R1 R2^T, which is
ours, is not what their code computes.
"""

from pathlib import Path

import torch
from same_weights.attention import LENGTH, SYNTHESIZERS
from same_weights.draws import HEADS, Outputs, numbers
from torch import Tensor

from authors_code.layers import mesh_layers
from authors_code.layers.mesh_layers import LONGEST, D, transposed
from authors_code.record import Source

SOURCE = Source(mesh_layers.REPOSITORY, mesh_layers.COMMIT, mesh_layers.FILE)
RANK = 16


def run_code(checkout: Path) -> Outputs:
    kind = mesh_layers.install(checkout).Synthesizer

    def run(mode: str, weights: dict[str, Tensor]) -> Outputs:
        layer = kind(num_heads=HEADS, key_value_size=D, synthesize_mode=mode)
        return mesh_layers.run_code(layer, weights, mode)

    factors = {name: numbers(name, RANK, HEADS, LONGEST) for name in ("R1", "R2")}
    rows = run("factorized", factors | {"kv": transposed("v_proj"), "o": transposed("out_proj")})["factorized"]
    torch.testing.assert_close(rows, rows[:, :1].expand_as(rows))
    outputs: Outputs = {}
    for mode in SYNTHESIZERS:
        outputs |= run(mode, their_weights(mode))
    return outputs


def their_weights(mode: str) -> dict[str, Tensor]:
    """Return the weights of ours under their names: one matrix for keys and values if there is no dot product."""
    mixed, source = mode.endswith("alpha"), "score_source"
    weights = {"o": transposed("out_proj"), "v" if mixed else "kv": transposed("v_proj")}
    if mode != "random":
        weights["q"] = transposed("q_proj", D**-0.5)
    if mixed:
        random, dot = numbers("score_source.mixing", 2)
        weights |= {"k": transposed("k_proj"), "alpha": (random - dot).view(1)}
        source = "score_source.sources.0"
    return weights | scores(source, "random" in mode)


def scores(source: str, random: bool) -> dict[str, Tensor]:
    if random:
        table = torch.zeros(LONGEST, HEADS, LONGEST)
        table[:LENGTH, :, :LENGTH] = numbers(f"{source}.table", HEADS, LENGTH, LENGTH).transpose(0, 1)
        return {"R": table}
    rows = torch.zeros(D, LONGEST)
    rows[:, :LENGTH] = numbers(f"{source}.row_weight", D, LENGTH)
    return {"pi/kernel": rows}
