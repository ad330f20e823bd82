"""Predictions of the papers about trained models, compared with measurements: a claim is one row of CLAIMS."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from realformer_nmt.analysis.analysis_record import AnalysedModel, ChainFigures, HeadStatistics
from realformer_nmt.analysis.hooks import CHAINS

XIE, LIU, HE = "Xie et al. 2023", "Liu et al. 2020", "He et al. 2021"


class TrainedModel(Struct, frozen=True, kw_only=True):
    """Figures of a trained model that the claims use: means over heads or upper layers, by chain or by side."""

    family: str | None
    layers: int
    entropy: dict[str, float] = {}
    divergence: dict[str, float] = {}  # a single layer has none
    cosine: dict[str, float] = {}
    last_branch: dict[str, float] = {}
    left_out: dict[str, list[float]] = {}


class ClaimCheck(NamedTuple):
    measured: str
    agrees: bool


Check = Callable[[Sequence[Any]], Iterator[ClaimCheck]]  # of models; one result per depth


class Claim(NamedTuple):
    paper: str
    predicted: str
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
    """Return the mean over all heads by chain, if there are any."""
    heads = {
        name: [value for layer in figure(chains[name]).mean for value in layer] for name in CHAINS if name in chains
    }
    return {name: statistics.mean(values) for name, values in heads.items() if values}


def lowest(family: str, figure: str) -> Check:
    """Return a check that the family has the lowest figure of all families, wherever it is measured."""

    def check(models: Sequence[TrainedModel]) -> Iterator[ClaimCheck]:
        measured = [model for model in models if getattr(model, figure)]
        for candidate, rivals in with_rivals(measured, family):
            values: dict[str, float] = getattr(candidate, figure)  # by chain or side
            least = {key: min(getattr(rival, figure)[key] for rival in rivals) for key in values}
            listing = "; ".join(f"{key} {value:.2f}, the others from {least[key]:.2f}" for key, value in values.items())
            agrees = all(value < least[key] for key, value in values.items())
            yield ClaimCheck(f"{candidate.layers} layers: {listing}", agrees)

    return check


def between(lower: str, higher: str, figure: str) -> Check:
    def check(models: Sequence[TrainedModel]) -> Iterator[ClaimCheck]:
        for candidate, rivals in with_rivals(models, lower):
            for rival in (model for model in rivals if model.family == higher):
                values: dict[str, float] = getattr(candidate, figure)
                pairs = {key: (value, getattr(rival, figure)[key]) for key, value in values.items()}
                listing = "; ".join(f"{key} {low:.3f} against {high:.3f}" for key, (low, high) in pairs.items())
                agrees = all(low < high for low, high in pairs.values())
                yield ClaimCheck(f"{candidate.layers} layers: {listing}", agrees)

    return check


def with_rivals(models: Sequence[TrainedModel], family: str) -> Iterator[tuple[TrainedModel, list[TrainedModel]]]:
    """Yield each model of a family with those of the other families of the same depth, if there are any."""
    for candidate in (model for model in models if model.family == family):
        rivals = [model for model in models if model.layers == candidate.layers and model.family != family]
        if rivals:
            yield candidate, rivals


CLAIMS = (
    Claim(
        LIU,
        "Pre-LN's last layer adds less to the stream than ADMIN's (share of the variance)",
        between("pre_ln", "admin", "last_branch"),
    ),
    Claim(
        XIE,
        "Pre-LN's upper layers become alike (cosine): more than ResiDual's",
        between("resi_dual", "pre_ln", "cosine"),
    ),
    Claim(
        XIE,
        "Pre-LN's upper layers become alike (cosine): more than ADMIN's, which is Post-LN",
        between("admin", "pre_ln", "cosine"),
    ),
    Claim(HE, "RealFormer's attention is sparser (mean entropy, bits)", lowest("realformer", "entropy")),
    Claim(
        HE,
        "RealFormer's heads are most like the heads above (mean divergence, bits)",
        lowest("realformer", "divergence"),
    ),
)
