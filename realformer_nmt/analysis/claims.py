"""Predictions of the papers compared with measurements: a claim is one row of CLAIMS.

docs/results/claims.json holds the measurements: `start`, rows of beginnings.py, and `trained`, rows of `summary`.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from realformer_nmt.analysis.hooks import CHAINS

Row = Mapping[str, Any]
XIONG, XIE, LIU, HE = "Xiong et al. 2020", "Xie et al. 2023", "Liu et al. 2020", "He et al. 2021"
NEEDED = 0.02  # bits per word: a layer is needed if the loss grows by more without it
FLAT, STEP = 0.15, 2.0  # the largest slope that counts as flat, the smallest factor that counts as growth


class ClaimCheck(NamedTuple):
    measured: str
    agrees: bool


class Claim(NamedTuple):
    paper: str
    predicted: str
    of: str  # start or trained
    check: Callable[[Sequence[Row]], Iterator[ClaimCheck]]  # of trained models one finding per depth


def summary(model: Row) -> Row:
    """Return the figures of a model in analysis.json that the claims use: means over heads, or over the upper layers.

    A single layer has no divergence.
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
    cosines = {side: similarity["cosine"] for side, similarity in checkpoint["likeness"].items()}
    upper = {side: mean(values[len(values) // 2 :]) for side, values in cosines.items()}
    branches = {
        side: [terms["share_of_branch"] for name, terms in stream["sublayers"].items() if name.endswith(".ffn")][-1]
        for side, stream in checkpoint["stream"].items()
    }
    return {
        "family": model["arch"],
        "layers": len(list(cosines.values())[-1]),
        **figures,
        "cosine": upper,
        "last_branch": branches,
        "left_out": model["depth"]["left_out"],
    }


def mean(values: Any) -> float:
    return statistics.mean(values)


def slope(rows: Sequence[Row], family: str, figure: str) -> float:
    """Return the slope of log(figure) against log(layers), by least squares: figure ~ layers ** slope."""
    points = [(math.log(row["layers"]), math.log(row[figure])) for row in rows if row["family"] == family]
    return statistics.linear_regression(*zip(*points, strict=True)).slope


def power(family: str, figure: str, lowest: float, highest: float) -> Callable[[Sequence[Row]], Iterator[ClaimCheck]]:
    def check(rows: Sequence[Row]) -> Iterator[ClaimCheck]:
        exponent = slope(rows, family, figure)
        values = {row["layers"]: row[figure] for row in rows if row["family"] == family}
        listing = ", ".join(f"{value:.3g} with {layers}" for layers, value in values.items())
        yield ClaimCheck(f"{listing} layers: power {exponent:.2f}", lowest <= exponent <= highest)

    return check


def growth(family: str, lowest: float, highest: float) -> Callable[[Sequence[Row]], Iterator[ClaimCheck]]:
    """Return a check of the factor by which the gradient grows from the first layer of the decoder to the last."""

    def check(rows: Sequence[Row]) -> Iterator[ClaimCheck]:
        ratios = {row["layers"]: row["last"] / row["first"] for row in rows if row["family"] == family}
        listing = ", ".join(f"{ratio:.2f} with {layers}" for layers, ratio in ratios.items())
        yield ClaimCheck(
            f"last / first: {listing} layers", all(lowest <= ratio <= highest for ratio in ratios.values())
        )

    return check


def lowest(family: str, figure: str) -> Callable[[Sequence[Row]], Iterator[ClaimCheck]]:
    """Return a check that the family has the lowest figure of all families, wherever it is measured."""

    def check(rows: Sequence[Row]) -> Iterator[ClaimCheck]:
        measured = [row for row in rows if row[figure]]
        for candidate, rivals in with_rivals(measured, family):
            values = candidate[figure]  # by chain or side
            least = {key: min(rival[figure][key] for rival in rivals) for key in values}
            listing = "; ".join(f"{key} {value:.2f}, the others from {least[key]:.2f}" for key, value in values.items())
            agrees = all(value < least[key] for key, value in values.items())
            yield ClaimCheck(f"{candidate['layers']} layers: {listing}", agrees)

    return check


def between(lower: str, higher: str, figure: str) -> Callable[[Sequence[Row]], Iterator[ClaimCheck]]:
    def check(rows: Sequence[Row]) -> Iterator[ClaimCheck]:
        for candidate, rivals in with_rivals(rows, lower):
            for rival in (row for row in rivals if row["family"] == higher):
                pairs = {key: (value, rival[figure][key]) for key, value in candidate[figure].items()}
                listing = "; ".join(f"{key} {low:.3f} against {high:.3f}" for key, (low, high) in pairs.items())
                agrees = all(low < high for low, high in pairs.values())
                yield ClaimCheck(f"{candidate['layers']} layers: {listing}", agrees)

    return check


def with_rivals(rows: Sequence[Row], family: str) -> Iterator[tuple[Row, list[Row]]]:
    """Yield each row of a family with the rows of the other families of the same depth, where there are any."""
    for candidate in (row for row in rows if row["family"] == family):
        rivals = [row for row in rows if row["layers"] == candidate["layers"] and row["family"] != family]
        if rivals:
            yield candidate, rivals


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
    """Return the claims as a Markdown table, without those for which nothing was measured."""
    lines = ["| paper | predicted | measured | agrees |", "|---|---|---|---|"]
    for claim in CLAIMS:
        for finding in claim.check(record[claim.of]):
            agrees = "yes" if finding.agrees else "**no**"
            lines.append(f"| {claim.paper} | {claim.predicted} | {finding.measured} | {agrees} |")
    return "".join(f"{line}\n" for line in lines)


def needed(record: Mapping[str, Sequence[Row]]) -> str:
    """Return a Markdown table of how many layers each trained model needs; without one its loss grows by NEEDED."""
    lines = ["| layers | family | of the encoder | of the decoder |", "|---|---|---|---|"]
    for row in record["trained"]:
        counts = [sum(loss > NEEDED for loss in row["left_out"][side]) for side in ("encoder", "decoder")]
        lines.append(f"| {row['layers']} | `{row['family']}` | {counts[0]} | {counts[1]} |")
    return "".join(f"{line}\n" for line in lines)


TABLES = {"claims": table, "needed": needed}
