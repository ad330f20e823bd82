"""Readers of what comes from elsewhere, given what nobody would write: they read it or say what is wrong with it."""

import contextlib
import io
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.grid import grid
from realformer_nmt.corpora import manifest, read_segments, text_pipeline
from realformer_nmt.corpora.archives import extract
from realformer_nmt.data_bins import index as index_of_fairseq
from realformer_nmt.evaluation import tested_system
from realformer_nmt.evaluation.tested_system import System
from realformer_nmt.protocols import protocol
from reliability.fuzzed_inputs import (
    GRID,
    MANIFEST,
    PREPARED,
    PROTOCOL,
    RUN,
    SGM,
    TEXT,
    Given,
    index_of,
    mutated,
    resealed,
    zipped,
)
from reliability.hostile_pickles import older, packed
from reliability.pickle_words import storage, tensor


def read_run(path: Path) -> System:
    """Read a run.json as a test of significance does, beside the texts that it names."""
    path.with_name("text").write_bytes(TEXT)
    return tested_system.read(path)


def check_sound(index: Path) -> None:
    index.with_suffix(".bin").write_bytes(bytes(12))
    index_of_fairseq.check_sound(index, 4, index)


TENSOR = tensor(storage(), 0, (4,), (1,))


class Reader(NamedTuple):
    read: Callable[[Path], object]
    inputs: Given
    file: str = "input"


READERS = {
    "sgm": Reader(lambda path: list(read_segments.Segments(path, "sgm")), mutated(SGM) | st.binary()),
    "gzip": Reader(lambda path: list(read_segments.Segments(path, "gzip")), mutated(bytes(30)) | st.binary()),
    "zip": Reader(lambda path: extract.extract(path, ["a"], path.parent / "out"), mutated(zipped()), "input.zip"),
    "tar": Reader(lambda path: extract.extract(path, ["a"], path.parent / "out"), mutated(bytes(600)), "input.tar"),
    "manifest": Reader(manifest.load, mutated(MANIFEST.read_bytes()) | st.binary(), "input.toml"),
    "grid": Reader(grid.load, mutated(GRID) | st.binary(), "input.toml"),
    "protocol": Reader(lambda path: protocol.load(str(path), "c", "18"), mutated(PROTOCOL) | st.binary(), "input.toml"),
    "prepare.json": Reader(
        lambda path: text_pipeline.read(path.parent),
        mutated(json.dumps(PREPARED).encode()).map(resealed),
        "prepare.json",
    ),
    "run.json": Reader(read_run, mutated(json.dumps(RUN).encode()).map(resealed), "run.json"),
    "checkpoint": Reader(
        checkpoint_fields.load, mutated(packed(TENSOR)) | mutated(TENSOR).map(packed) | mutated(older(TENSOR))
    ),
    "data-bin": Reader(check_sound, mutated(index_of((1, 2))), "input.idx"),
}


def attempt(name: str, examples: int) -> int:
    """Return how many inputs were tried; raise at the first that ends in anything but an answer or a UserError."""
    reader, tried = READERS[name], 0

    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(reader.inputs)
    def read(content: bytes) -> None:
        nonlocal tried
        tried += 1
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, reader.file)
            path.write_bytes(content)
            with contextlib.suppress(UserError), contextlib.redirect_stderr(io.StringIO()):
                reader.read(path)

    read()
    return tried


def fuzz(seconds: float) -> dict[str, int]:
    """Inputs tried of each reader, in about so many seconds in all."""
    counts = dict.fromkeys(READERS, 0)
    for name in READERS:
        end = time.monotonic() + seconds / len(READERS)
        while time.monotonic() < end:
            counts[name] += attempt(name, 20)
    return counts
