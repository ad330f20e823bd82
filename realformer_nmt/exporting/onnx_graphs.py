"""Export to two graphs of ONNX, encoder.onnx and step.onnx, and translate.py, which needs no torch."""

import inspect
import logging
import warnings
from functools import partial
from pathlib import Path

import torch
from onnxruntime.quantization import quantize_dynamic

from realformer_nmt.exporting import onnx_decoding
from realformer_nmt.exporting.loaded_run import LoadedRun
from realformer_nmt.exporting.traceable_modules import Graph, reading, traceable, writing

OPSET = 17
ENCODER, STEP = "encoder.onnx", "step.onnx"


def write(source: LoadedRun, folder: Path, precision: str) -> None:
    model = traceable(source.model)
    encoder = reading(model)
    save(encoder, folder / ENCODER)
    save(writing(model, encoder), folder / STEP)
    if precision == "int8":
        for name in (ENCODER, STEP):
            quantise(folder / name)
    source.copy_program(onnx_decoding, folder)


def save(graph: Graph, file: Path) -> None:
    """Write a graph by torch.jit.trace, which is quick but deprecated: torch's warnings about that are ignored."""
    export = torch.onnx.export
    if "dynamo" in inspect.signature(export).parameters:
        export = partial(export, dynamo=False)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        export(
            graph.module,
            tuple(graph.inputs.values()),
            str(file),
            input_names=list(graph.inputs),
            output_names=graph.outputs,
            dynamic_axes=graph.axes,
            opset_version=OPSET,
        )


def quantise(file: Path) -> None:
    """Quantise the weights of products, with a scale per column; activations are quantised dynamically."""
    logging.disable(logging.WARNING)  # it advises to fold constants, which torch does already
    try:
        quantize_dynamic(str(file), str(file), per_channel=True, reduce_range=True)
    finally:
        logging.disable(logging.NOTSET)
