"""What gpu_on_paper.py counts, measured on the GPU that is there: the same steps, and what graphs and compiling bring.

make bench-gpu                                  # every family at three sizes
make bench-gpu BENCH="--sizes 6-6 --families post_ln realformer"
"""

import json
import logging
import statistics
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from contestants import STOCK, Place, Sample, Shape, build, samples
from gpu_on_paper import TOKENS, read_options
from measuring import flops, seconds
from steps import Training, decoder_step
from torch.profiler import ProfilerActivity, profile

from realformer_nmt.common.versions import versions

Row = dict[str, Any]
RECORD = Path("docs/results/gpu_measured.json")
ROUNDS = 10


def rows(sizes: list[str], families: list[str], place: Place) -> Iterator[Row]:
    for size in sizes:
        encoder_layers, decoder_layers = map(int, size.split("-"))
        shape = Shape(encoder_layers, decoder_layers)
        (batch,) = samples(shape, place, TOKENS, 1)
        for who in [STOCK, *families]:
            both = {"training": training(who, shape, batch, place), "decoding": decoding(who, shape, place)}
            yield {"size": shape.name, "model": who, "tokens": batch["ntokens"], **both}


def training(who: str, shape: Shape, batch: Sample, place: Place) -> Row:
    step = Training(who, shape, build(who, shape, place), batch, place.device)

    def once() -> None:
        for part in step.parts.values():
            part()

    once()
    torch.cuda.reset_peak_memory_stats(place.device)
    found: Row = {"parameters": sum(weight.numel() for weight in step.model.parameters()), **watched(once, place)}
    found["launches"] = {name: launches(part) for name, part in step.parts.items()}
    found["peak bytes"] = torch.cuda.max_memory_allocated(place.device)
    compiled = Training(who, shape, torch.compile(build(who, shape, place)), batch, place.device)
    found["ms, graph"] = tried(lambda: graphed(step), place)
    found["ms, compiled"] = tried(lambda: list(compiled.parts.values()), place)
    return found


def decoding(who: str, shape: Shape, place: Place) -> Row:
    with torch.no_grad():
        run = decoder_step(build(who, shape, place).eval(), place.device, shape.vocabulary)
        return {"launches": launches(run), **watched(run, place)}


def watched(work: Callable[[], object], place: Place) -> Row:
    return {"waits": waits(work), "flops": flops(work), "ms": milliseconds(work, place)}


def milliseconds(work: Callable[[], object], place: Place) -> float:
    return round(1e3 * statistics.median(seconds(work, place.device) for _ in range(ROUNDS)), 3)


def launches(work: Callable[[], object]) -> int:
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        work()
    return sum(event.count for event in profiler.key_averages() if event.key.startswith("cudaLaunchKernel"))


def waits(work: Callable[[], object]) -> int:
    torch.cuda.set_sync_debug_mode("warn")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        work()
    torch.cuda.set_sync_debug_mode("default")
    return sum("synchronizing CUDA operation" in str(warning.message) for warning in told)


def graphed(step: Training) -> list[Callable[[], object]]:
    """Forward and backward pass recorded once, for batches of this shape, and launched as one; then the optimiser."""
    graph = torch.cuda.CUDAGraph()
    step.updates.zero_grad()
    with torch.cuda.graph(graph):
        step.forward()
        step.backward()
    gradients = [weight.grad for weight in step.updates.fp16_params]

    def replay() -> None:
        graph.replay()
        for weight, gradient in zip(step.updates.fp16_params, gradients, strict=True):
            weight.grad = gradient
        step.updates._needs_sync = True

    return [replay, step.update]


def tried(make: Callable[[], list[Callable[[], object]]], place: Place) -> float | str:
    """A model that waits for a value cannot be recorded: the reason in its place."""
    try:
        parts = make()
        for _ in range(3):
            run(parts)
        return milliseconds(lambda: run(parts), place)
    except RuntimeError as error:
        return str(error).partition("\n")[0]


def run(parts: list[Callable[[], object]]) -> None:
    for part in parts:
        part()


def main() -> int:
    args = read_options(__doc__, RECORD)
    if not torch.cuda.is_available():
        print(
            "bench-gpu: no GPU that torch can use here; benchmarks/gpu_on_paper.py counts without one", file=sys.stderr
        )
        return 1
    logging.disable(logging.INFO)
    place, found = Place(torch.device("cuda"), torch.bfloat16), []
    for row in rows(args.sizes, args.families, place):
        found.append(row)
        print(row, flush=True)
    made = {"what": "measured", "graphics": torch.cuda.get_device_name(), "versions": versions()}
    args.json.write_text(json.dumps({**made, "rows": found}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
