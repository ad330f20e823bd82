"""Readers of what comes from elsewhere, given what nobody would write: they read it or say what is wrong with it.

python -m reliability.fuzzing [SECONDS]
"""

import contextlib
import io
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fairseq import checkpoint_utils
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from realformer_nmt.checkpoints.files import checkpoint_fields
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.comparison.grid import grid
from realformer_nmt.comparison.records import scored_run
from realformer_nmt.comparison.report import provenance
from realformer_nmt.comparison.results import measured_cell, setting_differences, summary
from realformer_nmt.comparison.results.cell_result import CellResult
from realformer_nmt.comparison.results.results_file import ResultRow
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
    TAGS,
    TEXT,
    Given,
    index_of,
    json_like,
    mutated,
    packed,
    pickled,
    resealed,
    saved,
)


def load_by_fairseq(path: Path) -> None:
    with path.open("rb") as file:
        checkpoint_utils.torch.load(file, map_location="cpu")


def read_preparation(path: Path) -> None:
    text_pipeline.read(path.parent)


def read_run(path: Path) -> System:
    """Read a run.json as a test of significance does, beside the texts that it names."""
    path.with_name("text").write_bytes(TEXT)
    return tested_system.read(path)


def reckon_with(path: Path) -> ResultRow:
    """Read a run.json as a report does, which tells of a cell and of several seeds."""
    run = scored_run.read(path)
    cell = CellResult(
        name="admin-6-s1",
        family="admin",
        layers=[6, 6],
        depth="6",
        seed=1,
        state="done",
        scores=measured_cell.scores(run),
        parameters=records.none_if_unset(run.parameters) if run else None,
        settings=measured_cell.settings(TrainRecord(), None, run),
    )
    json.dumps([provenance.shared([cell]), setting_differences.settings([cell])])
    return summary.row([cell, cell], "bleu")


def check_sound(index: Path) -> None:
    index.with_suffix(".bin").write_bytes(bytes(12))
    index_of_fairseq.check_sound(index, 4, index)


OLD = saved(_use_new_zipfile_serialization=False)


class Reader(NamedTuple):
    read: Callable[[Path], object]
    inputs: Given
    file: str = "input"


READERS = {
    "sgm": Reader(lambda path: list(read_segments.Segments(path, "sgm")), mutated(SGM) | st.binary()),
    "tags": Reader(lambda path: list(read_segments.Segments(path, "tags")), mutated(TAGS) | st.binary()),
    "pairs": Reader(lambda path: list(read_segments.blocks(path, path, "text", "replace")), st.binary()),
    "gzip": Reader(lambda path: list(read_segments.Segments(path, "gzip")), mutated(bytes(30)) | st.binary()),
    "zip": Reader(lambda path: extract.extract(path, ["a"], path.parent / "out"), mutated(packed()), "input.zip"),
    "tar": Reader(lambda path: extract.extract(path, ["a"], path.parent / "out"), mutated(bytes(600)), "input.tar"),
    "manifest": Reader(manifest.load, mutated(MANIFEST.read_bytes()) | st.binary(), "input.toml"),
    "grid": Reader(grid.load, mutated(GRID) | st.binary(), "input.toml"),
    "protocol": Reader(lambda path: protocol.load(str(path), "c", "18"), mutated(PROTOCOL) | st.binary(), "input.toml"),
    "prepare.json": Reader(
        lambda path: text_pipeline.read(path.parent), json_like(PREPARED).map(resealed), "prepare.json"
    ),
    "run.json": Reader(read_run, json_like(RUN).map(resealed), "run.json"),
    "run.json, by a report": Reader(reckon_with, json_like(RUN).map(resealed), "run.json"),
    "checkpoint": Reader(checkpoint_fields.load, mutated(saved()) | pickled(saved())),
    "checkpoint, by fairseq": Reader(load_by_fairseq, mutated(saved()) | pickled(saved()) | mutated(OLD)),
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


if __name__ == "__main__":
    tried = fuzz(float((sys.argv[1:] or ["60"])[0]))
    print(json.dumps({**tried, "all": sum(tried.values())}, indent=2))
