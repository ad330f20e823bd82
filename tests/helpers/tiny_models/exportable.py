"""Models to export, which nobody trained: every weight is at random, biases and shortcuts too."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from programs.runs import load_state
from tiny_models import saved, tiny
from torch import Tensor

from realformer_nmt import subcommands
from realformer_nmt.corpora.preparing.cleaning import Steps
from realformer_nmt.corpora.text_pipeline import TextPipeline
from realformer_nmt.exporting.loaded_run import LoadedRun
from realformer_nmt.model.part_names import FAMILY_OPTIONS
from realformer_nmt.serving import translator

DEVIATION = 0.3
LONGEST = 40  # hypothesis


def source(parts: tuple[str, ...], folder: Path, **options: Any) -> LoadedRun:
    """Return a model of four parts or more, of tiny.py's sizes; the folder gets its dictionary."""
    settings = {**tiny.SIZE, "score_length": 12, **dict(zip(FAMILY_OPTIONS, parts, strict=False)), **options}
    model = tiny.build(**settings).eval()
    model.load_state_dict(at_random(model.state_dict()))
    for language in ("src", "tgt"):
        tiny.dictionary().save(str(folder / f"dict.{language}.txt"))
    corpus = TextPipeline(folder, "src", "tgt", "none", None, Steps("src"))
    return LoadedRun(folder / "model.pt", model, settings, 7, corpus)


def checkpoint(path: Path, data: Path, arch: str, *flags: str, margin: float = 0.0) -> Path:
    """Save a checkpoint as fairseq-train does; a `margin` of words over padding makes it write words alone, and end."""
    state = saved.state(data, *flags, arch=arch)
    weights = at_random(state["model"])
    last = [name for name in weights if re.fullmatch(r"decoder\.(layers\.\d\.final_)?layer_norm\.bias", name)][-1]
    output = weights["decoder.output_projection.weight"]
    direction = margin * output[tiny.EOS].sign()
    output[: tiny.EOS] *= margin == 0
    output[tiny.EOS :] += direction
    weights[last] += direction
    return saved.save(path, {**state, "model": weights})


def exported(to: str, checkpoint: Path, data: Path, output: Path, *flags: str) -> Path:
    words = ["export", str(checkpoint), "--to", to, "--data", str(data), "--subwords", "none", *flags]
    assert subcommands.main([*words, "--output", str(output)]) == 0
    return output


def prefer_beginnings(path: Path, word: int) -> None:
    """Let a checkpoint write <s>, which no trained model does, wherever it would write a certain word."""
    state = load_state(path)
    output = state["model"]["decoder.output_projection.weight"]
    output[tiny.BOS] = 1.1 * output[word]
    saved.save(path, state)


def greedy(path: Path, data: Path, texts: list[str]) -> list[list[str]]:
    """The pieces that ours writes, LONGEST at most, if each is the most probable one."""
    model = translator.load(path, data=data, subwords="none", cpu=True)
    return [each[0].pieces for each in model.stream(texts, beam=1, max_len_b=LONGEST)]


def at_random(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Shortcuts between 0.6 and 2.4. What is shared stays so, and padding has no embedding."""
    chance = torch.Generator().manual_seed(3)
    tensors: dict[int, Tensor] = {}
    for name, weight in weights.items():
        if name.endswith("version"):
            tensors[weight.data_ptr()] = weight.clone()
        elif weight.data_ptr() not in tensors:
            drawn: Tensor = torch.empty(weight.shape).normal_(0, DEVIATION, generator=chance)
            tensors[weight.data_ptr()] = drawn + 1.5 if name.endswith(("w0", "share", "norm.weight")) else drawn
            if name.endswith("embed_tokens.weight"):
                drawn[tiny.PAD] = 0
    return {name: tensors[weight.data_ptr()] for name, weight in weights.items()}
