"""A model as two graphs of ONNX, encoder.onnx and step.onnx, with what decodes by them: translate.py, without torch."""

import inspect
import json
import logging
import shutil
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import torch
from onnxruntime.quantization import quantize_dynamic
from torch import Tensor, nn

from realformer_nmt.data_bins.datasets import dictionary
from realformer_nmt.exporting import onnx_decoding
from realformer_nmt.exporting.graphs import Reading, Writing, parts, traceable
from realformer_nmt.exporting.source import Source
from realformer_nmt.model.model import TranslationModel

OPSET = 17
KINDS = ("values", "keys")
ENCODER, STEP, CONFIG, PROGRAM = "encoder.onnx", "step.onnx", "config.json", "translate.py"


class Graph(NamedTuple):
    module: nn.Module
    inputs: dict[str, Tensor]  # examples, with which it is traced
    outputs: list[str]
    axes: dict[str, dict[int, str]]  # what of inputs and outputs may be of any size


def write(source: Source, folder: Path, precision: str) -> None:
    model = traceable(source.model)
    encoder = reading(model)
    save(encoder, folder / ENCODER)
    save(writing(model, encoder), folder / STEP)
    if precision == "int8":
        for name in (ENCODER, STEP):
            quantise(folder / name)
    (folder / CONFIG).write_text(json.dumps(config(source), indent=1), encoding="utf-8")
    shutil.copyfile(onnx_decoding.__file__, folder / PROGRAM)
    source.copy_words(folder)


def reading(model: TranslationModel) -> Graph:
    tokens = torch.tensor([[4, 5, 6, 4, 2], [5, 4, 2, 1, 1]])
    layers = range(len(model.decoder.layers))
    seen = [f"source_{kind}.{number}" for number in layers for kind in KINDS]
    axes = {name: {0: "sentences", 1: "source"} for name in ("tokens", "padding")}
    axes |= {name: {0: "sentences", 2: "source"} for name in seen}
    return Graph(Reading(model), {"tokens": tokens}, ["padding", *seen], axes)


def writing(model: TranslationModel, encoder: Graph) -> Graph:
    padding, *seen = encoder.module(*encoder.inputs.values())
    rows, past = len(padding), 3
    own = {}
    for number, layer in enumerate(model.decoder.layers):
        scores = layer.self_attn.score_source
        for kind in KINDS[: parts(layer)]:
            own[f"own_{kind}.{number}"] = torch.zeros(rows, scores.heads, past, scores.head_width)
    grown = [f"new_{name}" for name in own]
    given = dict(zip(encoder.outputs[1:], seen, strict=True))
    axes = {"token": {0: "rows"}, "padding": {0: "rows", 1: "source"}, "log_probabilities": {0: "rows"}}
    for names, size in ((own, "past"), (grown, "length"), (given, "source")):
        axes |= {name: {0: "rows", 2: size} for name in names}
    inputs = {"token": torch.full((rows, 1), 4), "padding": padding, **own, **given}
    return Graph(Writing(model), inputs, ["log_probabilities", *grown], axes)


def save(graph: Graph, file: Path) -> None:
    """By torch.jit.trace, which takes all of it in a moment; torch calls that the old way, and says so each time."""
    old: dict[str, Any] = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            graph.module,
            tuple(graph.inputs.values()),
            str(file),
            input_names=list(graph.inputs),
            output_names=graph.outputs,
            dynamic_axes=graph.axes,
            opset_version=OPSET,
            **old,
        )


def quantise(file: Path) -> None:
    """Weights of products, a scale for each column; what they multiply is rounded as it comes."""
    logging.disable(logging.WARNING)  # it advises to fold constants, which torch has done
    try:
        quantize_dynamic(str(file), str(file), per_channel=True)
    finally:
        logging.disable(logging.NOTSET)


def config(source: Source) -> dict[str, Any]:
    words = [dictionary(file) for file in source.dictionaries]
    symbols = dict(zip(("source_words", "target_words"), (each.symbols for each in words), strict=True))
    limits = dict(zip(("longest_source", "longest_target"), source.model.max_positions(), strict=True))
    special = {"pad": words[1].pad(), "eos": words[1].eos(), "unk": words[1].unk()}
    return {"languages": source.corpus.languages, "subwords": source.corpus.subwords, **special, **limits, **symbols}
