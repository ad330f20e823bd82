"""Launcher of this machine: several cells at the same time, each on one GPU or on a share of the cores."""

import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence

from realformer_nmt.common.error_messages import message_of
from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.running.cell_run import Progress, run
from realformer_nmt.corpora.preparing.prepare_request import cores

BETWEEN_LOOKS = 0.1  # seconds
ShowProgress = Callable[[Cell, Progress], None]
Environment = Mapping[str, str]


def slots(gpus: int, jobs: int) -> list[dict[str, str]]:
    """Return the environment of each process, which assigns its GPU or its number of threads."""
    if gpus:
        listed = os.environ.get("CUDA_VISIBLE_DEVICES")
        devices = listed.split(",") if listed else [str(number) for number in range(gpus)]
        return [{"CUDA_VISIBLE_DEVICES": devices[number % gpus]} for number in range(jobs)]
    threads = max(1, cores() // jobs)
    return [{"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", str(threads))} for _ in range(jobs)]


def launch(cells: Sequence[Cell], slots: Sequence[Environment], show: ShowProgress) -> list[str]:
    """Run the cells, one per slot at a time, and return their errors, which end no other cell; Ctrl-C ends all."""
    waiting = list(cells)
    errors: list[str] = []
    running: dict[Cell, tuple[Generator[Progress, None, None], Environment]] = {}
    free = list(slots)
    try:
        while waiting or running:
            while waiting and free:
                cell, slot = waiting.pop(0), free.pop(0)
                running[cell] = run(cell, slot), slot
            for cell, (process, slot) in list(running.items()):
                progress = None
                try:
                    progress = next(process, None)
                except (UserError, OSError) as error:
                    errors.append(f"{cell.name}: {message_of(error)}")
                if progress is None:
                    del running[cell]
                    free.append(slot)
                else:
                    show(cell, progress)
            time.sleep(BETWEEN_LOOKS)
    finally:
        for process, _ in running.values():
            process.close()
    return errors
