"""The launcher of this machine: several cells side by side, each on a GPU of its own or on a share of the cores."""

import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence

from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.running.cell_run import Progress, run

BETWEEN_LOOKS = 0.1  # seconds
Told = Callable[[Cell, Progress], None]
Environment = Mapping[str, str]


def slots(gpus: int, jobs: int) -> list[dict[str, str]]:
    """What each process's environment says of the device that is its own."""
    if gpus:
        listed = os.environ.get("CUDA_VISIBLE_DEVICES")
        devices = listed.split(",") if listed else [str(number) for number in range(gpus)]
        return [{"CUDA_VISIBLE_DEVICES": devices[number % gpus]} for number in range(jobs)]
    threads = max(1, (os.cpu_count() or 1) // jobs)
    return [{"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", str(threads))} for _ in range(jobs)]


def launch(cells: Sequence[Cell], places: Sequence[Environment], show: Told) -> None:
    """An exception, such as Ctrl-C, ends every process before it goes on."""
    waiting = list(cells)
    running: dict[Cell, tuple[Generator[Progress, None, None], Environment]] = {}
    free = list(places)
    try:
        while waiting or running:
            while waiting and free:
                place = free.pop(0)
                running[waiting[0]] = run(waiting[0], place), place
                waiting.pop(0)
            for cell, (process, place) in list(running.items()):
                progress = next(process, None)
                if progress is None:
                    del running[cell]
                    free.append(place)
                else:
                    show(cell, progress)
            time.sleep(BETWEEN_LOOKS)
    finally:
        for process, _ in running.values():
            process.close()
