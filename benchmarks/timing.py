"""Clocks, ratios, peak memory and rates of benchmarks."""

import gc
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Any, NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

Work = Callable[[], object]


class Apart:
    """One call has the process do once what `make` returns there. It ends when nobody can ask it any more."""

    def __init__(self, make: Callable[..., Work], *arguments: object) -> None:
        self.asked, remote = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        context.Process(target=_serve, args=(remote, make, arguments), daemon=True).start()
        remote.close()
        self.spent = 0.0  # seconds of the processor that its calls took

    def __call__(self) -> Any:
        self.asked.send(True)
        output, seconds = self.asked.recv()
        self.spent += seconds
        return output


def _serve(pipe: Any, make: Callable[..., Work], arguments: tuple[object, ...]) -> None:
    work = make(*arguments)
    try:
        while pipe.recv():
            start = time.process_time()
            output = work()
            pipe.send((output, time.process_time() - start))
    except EOFError:
        return


class Spread(NamedTuple):
    median: float
    lowest: float
    highest: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.lowest:.2f} to {self.highest:.2f})"


def spread(values: list[float]) -> Spread:
    return Spread(statistics.median(values), min(values), max(values))


def seconds(work: Work, device: torch.device, clock: bool = False) -> float:
    """Return the processor time of one thread on the CPU, which other users hardly change, or else the clock's."""
    if device.type == "cpu" and torch.get_num_threads() == 1 and not clock:
        start = _processor_time(work)
        work()
        return _processor_time(work) - start
    wait_for(device)
    start = time.perf_counter()
    work()
    wait_for(device)
    return time.perf_counter() - start


def wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _processor_time(work: Work) -> float:
    """Its children's, once they have ended, included, and that of work in a process of its own."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = work.spent if isinstance(work, Apart) else 0.0
    return time.process_time() + children.ru_utime + children.ru_stime + spent


def interleaved(
    works: Mapping[str, Work], rounds: int, device: torch.device, clock: bool = False
) -> dict[str, list[float]]:
    """Seconds a round of each, taken in turns after one warm-up each; the order turns round from round to round."""
    for work in works.values():
        work()
    times: dict[str, list[float]] = {name: [] for name in works}
    for number in range(rounds):
        for name in list(works)[:: -1 if number % 2 else 1]:
            times[name].append(seconds(works[name], device, clock))
    return times


def ratios(times: dict[str, list[float]], against: str) -> dict[str, Spread]:
    """How many times as fast as `against`, round by round."""
    pairs = {name: zip(times[against], durations, strict=True) for name, durations in times.items()}
    return {name: spread([other / duration for other, duration in both]) for name, both in pairs.items()}


def peak_bytes(build: Callable[[], Work], device: torch.device) -> int:
    """The most that tensors take at any time of the second call, weights and the optimiser's state included."""
    if device.type == "cuda":
        work = build()
        work()
        torch.cuda.reset_peak_memory_stats(device)
        work()
        return torch.cuda.max_memory_allocated(device)
    gc.collect()  # what an earlier measurement left would be given back in this one
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        work = build()
        for _ in range(2):
            work()
        del work
    events = [event for event in profiler.profiler.kineto_results.events() if event.name() == "[memory]"]
    events.sort(key=lambda event: event.start_ns())
    return int(max(accumulate(event.nbytes() for event in events)))


def flops(work: Work) -> int:
    with FlopCounterMode(display=False) as counter:
        work()
    return int(counter.get_total_flops())


def matmul_rate(device: torch.device, dtype: torch.dtype) -> float:
    """FLOPs a second of the best of several matrix products of the sizes that the feed-forward blocks have."""
    rows = 512 if device.type == "cpu" else 8192
    a, b = torch.randn(rows, 2048, device=device, dtype=dtype), torch.randn(2048, 2048, device=device, dtype=dtype)
    times = [seconds(lambda: [a @ b for _ in range(5)], device) for _ in range(5)]
    return 5 * 2 * rows * 2048**2 / min(times)
