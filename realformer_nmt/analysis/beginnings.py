"""Models before their first update, by their number of layers: what theory speaks of. Their text is random words."""

import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from fairseq.data import Dictionary
from torch import Tensor

from realformer_nmt.analysis import depth, disturbance, gradients
from realformer_nmt.analysis.text import Text
from realformer_nmt.model.presets import FAMILIES

TRIED = ("post_ln", "pre_ln", "admin", "resi_dual")
DEPTHS, SEEDS = (6, 12, 24), (1, 2, 3)
WORDS, SENTENCES, LENGTH = 1000, 20, 20
SIZE = {"embed_dim": 64, "ffn_embed_dim": 256, "attention_heads": 4}
SETTINGS = {"words": WORDS, "sentences": SENTENCES, "length": LENGTH, **SIZE}
FIGURES = ("last", "first", "change")
Row = dict[str, Any]


class RandomSide:
    """Sentences of one length, as fairseq's datasets give them."""

    def __init__(self, words: Dictionary, seed: int) -> None:
        chance = torch.Generator().manual_seed(seed)
        drawn = torch.randint(words.nspecial, len(words), (SENTENCES, LENGTH - 1), generator=chance)
        self.rows = torch.cat([drawn, torch.full((SENTENCES, 1), words.eos())], 1)
        self.sizes = np.full(SENTENCES, LENGTH)

    def __getitem__(self, place: int) -> Tensor:
        return self.rows[place]


def random_text(seed: int) -> Text:
    words = Dictionary()
    for number in range(WORDS):
        words.add_symbol(str(number))
    return Text((words, words), (RandomSide(words, 2 * seed), RandomSide(words, 2 * seed + 1)), range(SENTENCES))


def measure(depths: Sequence[int] = DEPTHS, seeds: Sequence[int] = SEEDS) -> list[Row]:
    return [row(family, layers, seeds) for family in TRIED for layers in depths]


def row(family: str, layers: int, seeds: Sequence[int]) -> Row:
    """Means over seeds: norms of the gradient of fc2 in the `last` and the `first` layer of the decoder, and how far
    the output of the encoder changes (disturbance.py)."""
    runs = [one(family, layers, seed) for seed in seeds]
    return {
        "family": family,
        "layers": layers,
        **{name: statistics.mean(run[name] for run in runs) for name in FIGURES},
    }


def one(family: str, layers: int, seed: int) -> dict[str, float]:
    text = random_text(seed)
    sides = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in SIZE.items()}
    options = FAMILIES[family] | sides | {"encoder_layers": layers, "decoder_layers": layers}
    shared = {"share_all_embeddings": True}
    model = depth.fresh(options | shared, text, seed)
    norms = gradients.norms(model, text)["decoder"]["parts"]["fc2"]
    return {"last": norms[-1], "first": norms[0], "change": disturbance.measure(model, text)["encoder"][-1]}
