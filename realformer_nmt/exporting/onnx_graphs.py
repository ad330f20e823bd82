"""Export to two graphs of ONNX, encoder.onnx and step.onnx, and translate.py, which needs no torch."""

import inspect
import json
import logging
import shutil
import warnings
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx
import torch
from onnxruntime.quantization import quantize_dynamic

from realformer_nmt.common.files.text_lines import read_lines
from realformer_nmt.corpora.subwords.subword_methods import TAGS
from realformer_nmt.data_bins.datasets import dictionary
from realformer_nmt.exporting import loaded_run, onnx_decoding
from realformer_nmt.exporting.loaded_run import LoadedRun
from realformer_nmt.exporting.traceable_modules import Graph, reading, traceable, writing
from realformer_nmt.fairseq_patches.messages.quiet import quiet

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
    (folder / "config.json").write_text(json.dumps(config(source), indent=1), encoding="utf-8")
    shutil.copyfile(onnx_decoding.__file__, folder / "translate.py")
    source.copy_words(folder)


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
    with quiet(logging.WARNING):  # it advises to fold constants, which torch does already
        quantize_dynamic(exported, file, per_channel=True, reduce_range=True, use_external_data_format=large)


def config(source: LoadedRun) -> dict[str, object]:
    """Return the words and settings with which the program translates."""
    words = [dictionary(file) for file in source.corpus.dictionaries]
    symbols = dict(zip(("source_words", "target_words"), (each.symbols for each in words), strict=True))
    limits = dict(zip(("longest_source", "longest_target"), source.model.max_positions(), strict=True))
    special = {name: getattr(words[1], name)() for name in ("bos", "pad", "eos", "unk")}
    source_tag, target_tag = (tag.split() for tag in source.corpus.tags)  # none or one each
    split = {
        "subword_models": [file.name for file in source.tokenizer_models],  # of source and target
        "tags": [tag for file in loaded_run.subwords(source.corpus) if file.name == TAGS for tag in read_lines(file)],
        "source_tag": source_tag,
        "target_tag": list(map(words[1].index, target_tag)),
    }
    return {**split, **special, **limits, **symbols}
