"""Export to two graphs of torch.export, encoder.pt2 and step.pt2, and a program that translates: translate.py."""

import io
from collections.abc import Mapping
from pathlib import Path

import torch
from torch.export import Dim

from realformer_nmt.exporting import torch_decoding
from realformer_nmt.exporting.loaded_run import LoadedRun
from realformer_nmt.exporting.traceable_modules import Graph, reading, traceable, writing

Axes = dict[int, object]  # dimensions of a tensor that may have any size


def write(source: LoadedRun, folder: Path, _precision: str) -> None:
    model = traceable(source.model)
    encoder = reading(model)
    step = writing(model, encoder)
    # One less than the table of positions has, as torch.export treats a whole table as a special case.
    longest_source, longest_target = (length - 1 for length in model.max_positions())
    sizes: dict[str, object] = {name: Dim(name) for name in ("sentences", "rows")}
    sizes |= {"source": Dim("source", max=longest_source), "past": Dim("past", max=longest_target - 1)}
    save(encoder, tuple(axes(encoder, sizes)), folder / "encoder.pt2")
    token, padding, *state = axes(step, sizes)
    save(step, (token, padding, tuple(state)), folder / "step.pt2")
    state_shapes = [list(value[:1, :, :0].shape) for name, value in step.inputs.items() if name.startswith("own_")]
    longest = {"longest_source": longest_source, "longest_target": longest_target}
    source.copy_program(torch_decoding, folder, state=state_shapes, **longest)


def axes(graph: Graph, sizes: Mapping[str, object]) -> list[Axes]:
    return [{axis: sizes[name] for axis, name in graph.axes[tensor].items()} for tensor in graph.inputs]


def save(graph: Graph, shapes: tuple[object, ...], file: Path) -> None:
    with torch.no_grad():
        exported = torch.export.export(graph.module, tuple(graph.inputs.values()), dynamic_shapes=shapes, strict=False)
    stream = io.BytesIO()  # on a full disk torch ends this process instead of raising an error
    torch.export.save(exported, stream)
    file.write_bytes(stream.getbuffer())
