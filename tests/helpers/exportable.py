"""Models to export, which nobody trained: every weight is at random, biases and shortcuts too."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import saved
import tiny
import torch
from torch import Tensor

from realformer_nmt.corpora.cleaning import Steps
from realformer_nmt.corpora.preparation import Preparation
from realformer_nmt.exporting.source import Source
from realformer_nmt.model.parts import PARTS

DEVIATION = 0.3


def source(parts: tuple[str, str, str, str], folder: Path, **options: Any) -> Source:
    """Of tiny.py's sizes and dictionary, which the folder gets."""
    given = {**tiny.SIZE, "score_length": 12, **dict(zip(PARTS, parts, strict=True)), **options}
    model = tiny.build(**given).eval()
    model.load_state_dict(at_random(model.state_dict()))
    for language in ("src", "tgt"):
        tiny.dictionary().save(str(folder / f"dict.{language}.txt"))
    corpus = Preparation(folder, "src", "tgt", "none", None, Steps("src"), None)
    return Source(folder / "model.pt", model, given, 7, corpus)


def checkpoint(path: Path, data: Path, arch: str, *flags: str) -> Path:
    state = saved.state(data, *flags, arch=arch)
    return saved.save(path, {**state, "model": at_random(state["model"])})


def at_random(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Shortcuts between 0.6 and 2.4. What is shared stays so, and padding has no embedding."""
    chance = torch.Generator().manual_seed(3)
    made: dict[int, Tensor] = {}
    for name, weight in weights.items():
        if name.endswith("version"):
            made[weight.data_ptr()] = weight.clone()
        elif weight.data_ptr() not in made:
            drawn = torch.empty(weight.shape).normal_(0, DEVIATION, generator=chance)
            made[weight.data_ptr()] = drawn + 1.5 if name.endswith(("w0", "share", "norm.weight")) else drawn
            if name.endswith("embed_tokens.weight"):
                drawn[tiny.PAD] = 0
    return {name: made[weight.data_ptr()] for name, weight in weights.items()}
