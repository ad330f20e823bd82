"""Untrained models, measured by number of layers on random text, and what the papers predict of them."""

import math
import statistics
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from fairseq.data import Dictionary
from msgspec import Struct
from torch import Tensor

from realformer_nmt.analysis import depth
from realformer_nmt.analysis.claims import LIU, XIE, Check, Claim, ClaimCheck
from realformer_nmt.analysis.measures import gradients, weight_perturbation
from realformer_nmt.analysis.text import Text
from realformer_nmt.model.presets import FAMILIES

TESTED_FAMILIES = ("post_ln", "pre_ln", "admin", "resi_dual")
DEPTHS, SEEDS = (6, 12, 24), (1, 2, 3)
WORDS, SENTENCES, LENGTH = 1000, 20, 20
SIZE = {"embed_dim": 64, "ffn_embed_dim": 256, "attention_heads": 4}
SETTINGS = {"words": WORDS, "sentences": SENTENCES, "length": LENGTH, **SIZE}
FIGURES = ("last", "first", "change")
XIONG = "Xiong et al. 2020"
FLAT, STEP = 0.15, 2.0  # the largest slope that counts as flat, the smallest factor that counts as growth


class UntrainedModel(Struct, frozen=True, kw_only=True):
    """Figures of a model before its first update, means over seeds."""

    family: str
    layers: int
    last: float  # gradient norm of fc2 in the last layer of the decoder
    first: float  # and in its first layer
    change: float  # how far the output of the encoder moves (weight_perturbation.py)


class RandomSide:
    """Random sentences of one length, with the interface of fairseq's datasets."""

    def __init__(self, words: Dictionary, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        tokens = torch.randint(words.nspecial, len(words), (SENTENCES, LENGTH - 1), generator=generator)
        self.rows = torch.cat([tokens, torch.full((SENTENCES, 1), words.eos())], 1)
        self.sizes = np.full(SENTENCES, LENGTH)

    def __getitem__(self, index: int) -> Tensor:
        return self.rows[index]


def random_text(seed: int) -> Text:
    words = Dictionary()
    for number in range(WORDS):
        words.add_symbol(str(number))
    return Text((words, words), (RandomSide(words, 2 * seed), RandomSide(words, 2 * seed + 1)), range(SENTENCES))


def measure(depths: Sequence[int] = DEPTHS, seeds: Sequence[int] = SEEDS) -> list[UntrainedModel]:
    return [row(family, layers, seeds) for family in TESTED_FAMILIES for layers in depths]


def row(family: str, layers: int, seeds: Sequence[int]) -> UntrainedModel:
    """Return means over seeds."""
    runs = [measure_seed(family, layers, seed) for seed in seeds]
    means = {name: statistics.mean(run[name] for run in runs) for name in FIGURES}
    return UntrainedModel(family=family, layers=layers, **means)


def measure_seed(family: str, layers: int, seed: int) -> dict[str, float]:
    text = random_text(seed)
    sizes = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in SIZE.items()}
    layers_of = dict.fromkeys(("encoder_layers", "decoder_layers"), layers)
    model = depth.fresh({**FAMILIES[family], **sizes, **layers_of, "share_all_embeddings": True}, text, seed)
    norms = gradients.norms(model, text)["decoder"].parts["fc2"]
    return {"last": norms[-1], "first": norms[0], "change": weight_perturbation.measure(model, text)["encoder"][-1]}


def slope(models: Sequence[UntrainedModel], figure: str) -> float:
    """Return the slope of log(figure) against log(layers), by least squares: figure ~ layers ** slope."""
    layers = [math.log(model.layers) for model in models]
    return float(statistics.linear_regression(layers, [math.log(getattr(model, figure)) for model in models]).slope)


def power(family: str, figure: str, lowest: float, highest: float) -> Check:
    def check(every: Sequence[UntrainedModel]) -> Iterator[ClaimCheck]:
        models = [model for model in every if model.family == family]
        if not models:
            return
        exponent = slope(models, figure)
        listing = ", ".join(f"{getattr(model, figure):.3g} with {model.layers}" for model in models)
        yield ClaimCheck(f"{listing} layers: power {exponent:.2f}", lowest <= exponent <= highest)

    return check


def growth(family: str, lowest: float, highest: float) -> Check:
    """Return a check of the factor by which the gradient grows from the first layer of the decoder to the last."""

    def check(models: Sequence[UntrainedModel]) -> Iterator[ClaimCheck]:
        ratios = {model.layers: model.last / model.first for model in models if model.family == family}
        if not ratios:
            return
        listing = ", ".join(f"{ratio:.2f} with {layers}" for layers, ratio in ratios.items())
        agrees = all(lowest <= ratio <= highest for ratio in ratios.values())
        yield ClaimCheck(f"last / first: {listing} layers", agrees)

    return check


CLAIMS = (
    Claim(
        XIONG,
        "Post-LN: the gradient of the last layer does not fall with the number of layers N: power -0.15 to 0.15",
        power("post_ln", "last", -FLAT, FLAT),
    ),
    Claim(
        XIONG,
        "Pre-LN: the gradient of the last layer falls with sqrt(N): power -0.65 to -0.35",
        power("pre_ln", "last", -0.5 - FLAT, -0.5 + FLAT),
    ),
    Claim(
        XIONG,
        "Post-LN: gradients grow towards the output (by a factor of 2 or more)",
        growth("post_ln", STEP, math.inf),
    ),
    Claim(
        XIONG,
        "Pre-LN: gradients are of one size in all layers (within a factor of 2)",
        growth("pre_ln", 1 / STEP, STEP),
    ),
    Claim(
        XIE,
        "Post-LN: the gradient of the first layer vanishes with depth: steeper than power -0.5",
        power("post_ln", "first", -math.inf, -0.5),
    ),
    Claim(
        XIE,
        "ResiDual: the gradient of the first layer is bounded from below: no steeper than power -0.5",
        power("resi_dual", "first", -0.5, math.inf),
    ),
    Claim(
        LIU,
        "Post-LN: the output moves in proportion to N when weights are disturbed: power 0.7 to 1.3",
        power("post_ln", "change", 0.7, 1.3),
    ),
    Claim(LIU, "Pre-LN: with log N only: below power 0.5", power("pre_ln", "change", -math.inf, 0.5)),
    Claim(LIU, "ADMIN: with log N only: below power 0.5", power("admin", "change", -math.inf, 0.5)),
)
