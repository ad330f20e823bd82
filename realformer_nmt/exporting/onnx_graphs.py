"""Export to two graphs of ONNX, encoder.onnx and step.onnx, and translate.py, which needs no torch."""

import inspect
import logging
import warnings
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx
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
    for graph, name in ((encoder, ENCODER), (writing(model, encoder), STEP)):
        with TemporaryDirectory(dir=folder) as part:
            exported, file = Path(part, name), folder / name
            save(graph, exported)
            large = len(list(exported.parent.iterdir())) > 1  # above 2 GB torch writes a file per tensor
            if precision == "int8":
                quantise(exported, file, large)
            else:
                onnx.save_model(onnx.load(exported), file, save_as_external_data=large, location=f"{name}.data")
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


def quantise(exported: Path, file: Path, large: bool) -> None:
    """Quantise the weights of products, with a scale per column; activations are quantised dynamically."""
    logging.disable(logging.WARNING)  # it advises to fold constants, which torch does already
    try:
        quantize_dynamic(exported, file, per_channel=True, reduce_range=True, use_external_data_format=large)
    finally:
        logging.disable(logging.NOTSET)
