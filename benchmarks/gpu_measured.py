"""A step of training and one of decoding on the GPU that is there: launches, waits, time, and time as a CUDA graph."""

import gc
import statistics
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from gpu_steps import Training, decoder_step
from timing import flops, seconds
from torch.profiler import ProfilerActivity, profile
from workloads import STOCK, Place, Sample, Shape, build, samples

Row = dict[str, Any]
TOKENS = 8192
ROUNDS = 10  # of a measurement


def measure(sizes: list[str], families: list[str], place: Place, compiled: bool) -> Iterator[Row]:
    for size in sizes:
        encoder_layers, decoder_layers = map(int, size.split("-"))
        shape = Shape(encoder_layers, decoder_layers)
        (batch,) = samples(shape, place, TOKENS, 1)
        for who in [STOCK, *families]:
            decoding = measure_decoding(who, shape, place)
            training = measure_training(who, shape, batch, place, compiled)
            both = {"training": training, "decoding": decoding}
            yield {"size": shape.name, "model": who, "tokens": batch["ntokens"], **both}


def measure_training(who: str, shape: Shape, batch: Sample, place: Place, compiled: bool) -> Row:
    gc.collect()  # the model before this one would count in the peak
    step = Training(who, shape, build(who, shape, place), batch, place.device)

    def once() -> None:
        for part in step.parts.values():
            part()

    once()
    torch.cuda.reset_peak_memory_stats(place.device)
    row: Row = {"parameters": sum(weight.numel() for weight in step.model.parameters()), **watched(once, place)}
    row["launches"] = {name: launches(part) for name, part in step.parts.items()}
    row["peak bytes"] = torch.cuda.max_memory_allocated(place.device)
    waiting = waits(step.forward) + waits(step.backward)  # recording what waits would leave CUDA's generator unusable
    row["ms, graph"] = "it waits for a value" if waiting else tried(lambda: graphed(step), place)
    if compiled:
        model = torch.compile(build(who, shape, place))
        row["ms, compiled"] = tried(lambda: [*Training(who, shape, model, batch, place.device).parts.values()], place)
    return row


def measure_decoding(who: str, shape: Shape, place: Place) -> Row:
    with torch.no_grad():
        run = decoder_step(build(who, shape, place).eval(), place.device, shape.vocabulary)
        return {"launches": launches(run), **watched(run, place)}


def watched(work: Callable[[], object], place: Place) -> Row:
    return {"waits": waits(work), "flops": flops(work), "ms": milliseconds(work, place)}


def milliseconds(work: Callable[[], object], place: Place) -> float:
    return round(1e3 * statistics.median(seconds(work, place.device) for _ in range(ROUNDS)), 3)


def launches(work: Callable[[], object]) -> int:
    """Kernels that Python and torch start: by CUDA's runtime, or, as cuBLAS does, by its driver."""
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:  # the calls are seen by CUPTI
        work()
        torch.cuda.synchronize()
    calls = ("cudaLaunchKernel", "cuLaunchKernel")
    return sum(event.count for event in profiler.key_averages() if event.key.startswith(calls))


def waits(work: Callable[[], object]) -> int:
    torch.cuda.set_sync_debug_mode("warn")
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        work()
    torch.cuda.set_sync_debug_mode("default")
    return sum("synchronizing CUDA operation" in str(warning.message) for warning in records)


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
