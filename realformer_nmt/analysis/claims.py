"""Predictions of the papers compared with measurements: a claim is one row of CLAIMS."""

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from realformer_nmt.analysis.analysis_record import AnalysedModel, ChainFigures, HeadStatistics
from realformer_nmt.analysis.hooks import CHAINS

XIONG, XIE, LIU, HE = "Xiong et al. 2020", "Xie et al. 2023", "Liu et al. 2020", "He et al. 2021"
NEEDED = 0.02  # bits per word: a layer is needed if the loss grows by more without it
FLAT, STEP = 0.15, 2.0  # the largest slope that counts as flat, the smallest factor that counts as growth


class UntrainedModel(Struct, frozen=True, kw_only=True):
    """Figures of a model before its first update, means over seeds (at_initialisation.py)."""

    family: str
    layers: int
    last: float  # gradient norm of fc2 in the last layer of the decoder
    first: float  # and in its first layer
    change: float  # how far the output of the encoder moves (weight_perturbation.py)


class TrainedModel(Struct, frozen=True, kw_only=True):
    """Figures of a trained model that the claims use: means over heads or upper layers, by chain or by side."""

    family: str | None
    layers: int
    entropy: dict[str, float] = {}
    divergence: dict[str, float] = {}  # a single layer has none
    cosine: dict[str, float] = {}
    last_branch: dict[str, float] = {}
    left_out: dict[str, list[float]] = {}


class ClaimsRecord(Struct, frozen=True, kw_only=True):
    """Content of docs/results/claims.json: the measurements that claims are checked by."""

    start: list[UntrainedModel] = []
    trained: list[TrainedModel] = []
    made_from: dict[str, object] = {}


class ClaimCheck(NamedTuple):
    measured: str
    agrees: bool


Check = Callable[[ClaimsRecord], Iterator[ClaimCheck]]  # of trained models one result per depth


class Claim(NamedTuple):
    paper: str
    predicted: str
    of: str  # start or trained
    check: Check


def summary(model: AnalysedModel) -> TrainedModel:
    """Return the figures of an analysed model that the claims use."""
    chains, checkpoint = model.attention.chains, model.depth.checkpoint
    cosines = {side: similarity.cosine for side, similarity in checkpoint.likeness.items()}
    branches = {
        side: terms.share_of_branch
        for side, stream in checkpoint.stream.items()
        for name, terms in stream.sublayers.items()  # the last of them counts
        if name.endswith(".ffn")
    }
    return TrainedModel(
        family=model.arch,
        layers=len(list(cosines.values())[-1]),
        entropy=means(chains, lambda chain: chain.entropy),
        divergence=means(chains, lambda chain: chain.divergence),
        cosine={side: statistics.mean(values[len(values) // 2 :]) for side, values in cosines.items()},
        last_branch=branches,
        left_out=model.depth.left_out,
    )


def means(chains: dict[str, ChainFigures], figure: Callable[[ChainFigures], HeadStatistics]) -> dict[str, float]:
    """Return the mean over all heads by chain, where there are any."""
    heads = {
        name: [value for layer in figure(chains[name]).mean for value in layer] for name in CHAINS if name in chains
    }
    return {name: statistics.mean(values) for name, values in heads.items() if values}


def slope(models: Sequence[UntrainedModel], figure: str) -> float:
    """Return the slope of log(figure) against log(layers), by least squares: figure ~ layers ** slope."""
    layers = [math.log(model.layers) for model in models]
    return float(statistics.linear_regression(layers, [math.log(getattr(model, figure)) for model in models]).slope)


def power(family: str, figure: str, lowest: float, highest: float) -> Check:
    def check(record: ClaimsRecord) -> Iterator[ClaimCheck]:
        models = [model for model in record.start if model.family == family]
        if not models:
            return
        exponent = slope(models, figure)
        listing = ", ".join(f"{getattr(model, figure):.3g} with {model.layers}" for model in models)
        yield ClaimCheck(f"{listing} layers: power {exponent:.2f}", lowest <= exponent <= highest)

    return check


def growth(family: str, lowest: float, highest: float) -> Check:
    """Return a check of the factor by which the gradient grows from the first layer of the decoder to the last."""

    def check(record: ClaimsRecord) -> Iterator[ClaimCheck]:
        ratios = {model.layers: model.last / model.first for model in record.start if model.family == family}
        if not ratios:
            return
        listing = ", ".join(f"{ratio:.2f} with {layers}" for layers, ratio in ratios.items())
        agrees = all(lowest <= ratio <= highest for ratio in ratios.values())
        yield ClaimCheck(f"last / first: {listing} layers", agrees)

    return check


def lowest(family: str, figure: str) -> Check:
    """Return a check that the family has the lowest figure of all families, wherever it is measured."""

    def check(record: ClaimsRecord) -> Iterator[ClaimCheck]:
        measured = [model for model in record.trained if getattr(model, figure)]
        for candidate, rivals in with_rivals(measured, family):
            values: dict[str, float] = getattr(candidate, figure)  # by chain or side
            least = {key: min(getattr(rival, figure)[key] for rival in rivals) for key in values}
            listing = "; ".join(f"{key} {value:.2f}, the others from {least[key]:.2f}" for key, value in values.items())
            agrees = all(value < least[key] for key, value in values.items())
            yield ClaimCheck(f"{candidate.layers} layers: {listing}", agrees)

    return check


def between(lower: str, higher: str, figure: str) -> Check:
    def check(record: ClaimsRecord) -> Iterator[ClaimCheck]:
        for candidate, rivals in with_rivals(record.trained, lower):
            for rival in (model for model in rivals if model.family == higher):
                values: dict[str, float] = getattr(candidate, figure)
                pairs = {key: (value, getattr(rival, figure)[key]) for key, value in values.items()}
                listing = "; ".join(f"{key} {low:.3f} against {high:.3f}" for key, (low, high) in pairs.items())
                agrees = all(low < high for low, high in pairs.values())
                yield ClaimCheck(f"{candidate.layers} layers: {listing}", agrees)

    return check


def with_rivals(models: Sequence[TrainedModel], family: str) -> Iterator[tuple[TrainedModel, list[TrainedModel]]]:
    """Yield each model of a family with those of the other families of the same depth, where there are any."""
    for candidate in (model for model in models if model.family == family):
        rivals = [model for model in models if model.layers == candidate.layers and model.family != family]
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


def table(record: ClaimsRecord) -> str:
    """Return the claims as a Markdown table, without those for which nothing was measured."""
    lines = ["| paper | predicted | measured | agrees |", "|---|---|---|---|"]
    for claim in CLAIMS:
        for result in claim.check(record):
            agrees = "yes" if result.agrees else "**no**"
            lines.append(f"| {claim.paper} | {claim.predicted} | {result.measured} | {agrees} |")
    return "".join(f"{line}\n" for line in lines)


def needed(record: ClaimsRecord) -> str:
    """Return a Markdown table of how many layers each trained model needs; without one its loss grows by NEEDED."""
    lines = ["| layers | family | of the encoder | of the decoder |", "|---|---|---|---|"]
    for model in record.trained:
        counts = [sum(loss > NEEDED for loss in model.left_out[side]) for side in ("encoder", "decoder")]
        lines.append(f"| {model.layers} | `{model.family}` | {counts[0]} | {counts[1]} |")
    return "".join(f"{line}\n" for line in lines)


TABLES = {"claims": table, "needed": needed}
