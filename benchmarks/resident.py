"""What a decoding process keeps in memory for its model, once it has translated."""

import ctypes
import gc
import multiprocessing
from pathlib import Path

import torch
from contestants import STOCK, Place, Sample, Shape, build, samples
from generating import generator

PLACE = Place(torch.device("cpu"), torch.float32)
TINY = Shape(1, 1, 64, 1000)  # what the libraries keep for themselves they keep for it, too


def resident(who: str, shape: Shape, tokens: int, beam: int) -> int:
    """In bytes, of a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_grown, (who, shape, tokens, beam))


def weights(shape: Shape) -> int:
    """In bytes, those of stock fairseq's model."""
    return sum(parameter.nbytes for parameter in build(STOCK, shape, PLACE).parameters())


def _grown(who: str, shape: Shape, tokens: int, beam: int) -> int:
    torch.set_num_threads(1)
    generator(who, TINY, PLACE, samples(TINY, PLACE, tokens, 1), beam)()
    batch = samples(shape, PLACE, tokens, 1)
    before = _resident()
    generate = generator(who, shape, PLACE, [*batch, *alone(batch)], beam)
    generate()
    return _resident() - before


def alone(batches: list[Sample]) -> list[Sample]:
    """The first sentence of each."""
    return [{"net_input": {key: value[:1] for key, value in batch["net_input"].items()}} for batch in batches]


def _resident() -> int:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what is free goes back to the system
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096
