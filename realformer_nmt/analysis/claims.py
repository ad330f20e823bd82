"""What the papers predict, beside what was measured: a claim is one row of CLAIMS.

Figures are those of docs/results/claims.json: `start`, rows of beginnings.py, and `trained`, rows of `summary`.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from realformer_nmt.analysis.watching import CHAINS

Row = Mapping[str, Any]
XIONG, XIE, LIU, HE = "Xiong et al. 2020", "Xie et al. 2023", "Liu et al. 2020", "He et al. 2021"
NEEDED = 0.02  # bits a word: a layer without which the loss grows by more
FLAT, STEP = 0.15, 2.0  # a slope that counts as none, a factor that counts as more


class Found(NamedTuple):
    measured: str
    agrees: bool


class Claim(NamedTuple):
    paper: str
    predicted: str
    of: str  # start or trained
    check: Callable[[Sequence[Row]], Iterator[Found]]  # of trained models one answer a depth


def summary(model: Row) -> Row:
    """Of a model in analysis.json, what the claims are about: means over heads, over the upper half of the layers.

    An only layer has no divergence.
    """
    chains, checkpoint = model["attention"]["chains"], model["depth"]["checkpoint"]
    figures = {
        figure: {
            chain: mean(value for layer in layers for value in layer)
            for chain in CHAINS
            if chain in chains and (layers := chains[chain][figure]["mean"])
        }
        for figure in ("entropy", "divergence")
    }
    cosines = {side: found["cosine"] for side, found in checkpoint["likeness"].items()}
    upper = {side: mean(values[len(values) // 2 :]) for side, values in cosines.items()}
    branches = {
        side: [found["share_of_branch"] for name, found in stream["sublayers"].items() if name.endswith(".ffn")][-1]
        for side, stream in checkpoint["stream"].items()
    }
    found = {"family": model["arch"], "layers": len(list(cosines.values())[-1]), **figures}
    return {**found, "cosine": upper, "last_branch": branches, "left_out": model["depth"]["left_out"]}


def mean(values: Any) -> float:
    return statistics.mean(values)


def slope(rows: Sequence[Row], family: str, figure: str) -> float:
    """Of log(figure) against log(layers), by least squares: the power of the number of layers with which it grows."""
    points = [(math.log(row["layers"]), math.log(row[figure])) for row in rows if row["family"] == family]
    return statistics.linear_regression(*zip(*points, strict=True)).slope


def power(family: str, figure: str, lowest: float, highest: float) -> Callable[[Sequence[Row]], Iterator[Found]]:
    def check(rows: Sequence[Row]) -> Iterator[Found]:
        found = slope(rows, family, figure)
        own = {row["layers"]: row[figure] for row in rows if row["family"] == family}
        told = ", ".join(f"{value:.3g} with {layers}" for layers, value in own.items())
        yield Found(f"{told} layers: power {found:.2f}", lowest <= found <= highest)

    return check


def growth(family: str, lowest: float, highest: float) -> Callable[[Sequence[Row]], Iterator[Found]]:
    """Of the gradient, from the first layer of the decoder to the last."""

    def check(rows: Sequence[Row]) -> Iterator[Found]:
        ratios = {row["layers"]: row["last"] / row["first"] for row in rows if row["family"] == family}
        told = ", ".join(f"{ratio:.2f} with {layers}" for layers, ratio in ratios.items())
        yield Found(f"last / first: {told} layers", all(lowest <= ratio <= highest for ratio in ratios.values()))

    return check


def lowest(family: str, figure: str) -> Callable[[Sequence[Row]], Iterator[Found]]:
    """Lower than every other family's, wherever it is measured."""

    def check(rows: Sequence[Row]) -> Iterator[Found]:
        measured = [row for row in rows if row[figure]]
        for layers, own, others in beside(measured, family):
            least = {place: min(other[figure][place] for other in others) for place in own[figure]}
            told = "; ".join(
                f"{place} {value:.2f}, the others from {least[place]:.2f}" for place, value in own[figure].items()
            )
            yield Found(f"{layers} layers: {told}", all(value < least[place] for place, value in own[figure].items()))

    return check


def between(lower: str, higher: str, figure: str) -> Callable[[Sequence[Row]], Iterator[Found]]:
    def check(rows: Sequence[Row]) -> Iterator[Found]:
        for layers, own, others in beside(rows, lower):
            for other in (row for row in others if row["family"] == higher):
                pairs = {place: (value, other[figure][place]) for place, value in own[figure].items()}
                told = "; ".join(f"{place} {low:.3f} against {high:.3f}" for place, (low, high) in pairs.items())
                yield Found(f"{layers} layers: {told}", all(low < high for low, high in pairs.values()))

    return check


def beside(rows: Sequence[Row], family: str) -> Iterator[tuple[int, Row, list[Row]]]:
    """At each depth that has one, a family's row and those of the others."""
    for own in (row for row in rows if row["family"] == family):
        others = [row for row in rows if row["layers"] == own["layers"] and row["family"] != family]
        if others:
            yield own["layers"], own, others


CLAIMS = (
    Claim(
        XIONG,
        "Post-LN: the gradient of the last layer does not fall with the number of layers N: power -0.15 to 0.15",
        "start",
        power("post_ln", "last", -FLAT, FLAT),
    ),
    Claim(
        XIONG,
        "Pre-LN: the gradient of the last layer falls with sqrt(N): power -0.65 to -0.35",
        "start",
        power("pre_ln", "last", -0.5 - FLAT, -0.5 + FLAT),
    ),
    Claim(
        XIONG,
        "Post-LN: gradients grow towards the output (by a factor of 2 or more)",
        "start",
        growth("post_ln", STEP, math.inf),
    ),
    Claim(
        XIONG,
        "Pre-LN: gradients are of one size in all layers (within a factor of 2)",
        "start",
        growth("pre_ln", 1 / STEP, STEP),
    ),
    Claim(
        XIE,
        "Post-LN: the gradient of the first layer vanishes with depth: steeper than power -0.5",
        "start",
        power("post_ln", "first", -math.inf, -0.5),
    ),
    Claim(
        XIE,
        "ResiDual: the gradient of the first layer is bounded from below: no steeper than power -0.5",
        "start",
        power("resi_dual", "first", -0.5, math.inf),
    ),
    Claim(
        LIU,
        "Post-LN: the output moves in proportion to N when weights are disturbed: power 0.7 to 1.3",
        "start",
        power("post_ln", "change", 0.7, 1.3),
    ),
    Claim(LIU, "Pre-LN: with log N only: below power 0.5", "start", power("pre_ln", "change", -math.inf, 0.5)),
    Claim(LIU, "ADMIN: with log N only: below power 0.5", "start", power("admin", "change", -math.inf, 0.5)),
    Claim(
        LIU,
        "Pre-LN's last layer adds less to the stream than ADMIN's (share of the variance)",
        "trained",
        between("pre_ln", "admin", "last_branch"),
    ),
    Claim(
        XIE,
        "Pre-LN's upper layers become alike (cosine): more than ResiDual's",
        "trained",
        between("resi_dual", "pre_ln", "cosine"),
    ),
    Claim(
        XIE,
        "Pre-LN's upper layers become alike (cosine): more than ADMIN's, which is Post-LN",
        "trained",
        between("admin", "pre_ln", "cosine"),
    ),
    Claim(HE, "RealFormer's attention is sparser (mean entropy, bits)", "trained", lowest("realformer", "entropy")),
    Claim(
        HE,
        "RealFormer's heads are most like the heads above (mean divergence, bits)",
        "trained",
        lowest("realformer", "divergence"),
    ),
)


def table(record: Mapping[str, Sequence[Row]]) -> str:
    """In Markdown; a claim that nothing was measured of is left out."""
    lines = ["| paper | predicted | measured | agrees |", "|---|---|---|---|"]
    for claim in CLAIMS:
        for found in claim.check(record[claim.of]):
            agrees = "yes" if found.agrees else "**no**"
            lines.append(f"| {claim.paper} | {claim.predicted} | {found.measured} | {agrees} |")
    return "".join(f"{line}\n" for line in lines)


def needed(record: Mapping[str, Sequence[Row]]) -> str:
    """In Markdown: without how many layers, each left out alone, a trained model loses more than NEEDED."""
    lines = ["| layers | family | of the encoder | of the decoder |", "|---|---|---|---|"]
    for row in record["trained"]:
        counts = [sum(loss > NEEDED for loss in row["left_out"][side]) for side in ("encoder", "decoder")]
        lines.append(f"| {row['layers']} | `{row['family']}` | {counts[0]} | {counts[1]} |")
    return "".join(f"{line}\n" for line in lines)


TABLES = {"claims": table, "needed": needed}
