"""Measurements of untrained models by number of layers, on random text: what the theory predicts."""

import statistics
from collections.abc import Sequence

import numpy as np
import torch
from fairseq.data import Dictionary
from torch import Tensor

from realformer_nmt.analysis import depth
from realformer_nmt.analysis.claims import UntrainedModel
from realformer_nmt.analysis.measures import gradients, weight_perturbation
from realformer_nmt.analysis.text import Text
from realformer_nmt.model.presets import FAMILIES

TESTED_FAMILIES = ("post_ln", "pre_ln", "admin", "resi_dual")
DEPTHS, SEEDS = (6, 12, 24), (1, 2, 3)
WORDS, SENTENCES, LENGTH = 1000, 20, 20
SIZE = {"embed_dim": 64, "ffn_embed_dim": 256, "attention_heads": 4}
SETTINGS = {"words": WORDS, "sentences": SENTENCES, "length": LENGTH, **SIZE}
FIGURES = ("last", "first", "change")


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
