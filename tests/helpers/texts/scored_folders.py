"""Folders as `translate` leaves them, and their scores."""

from pathlib import Path
from typing import Any

from msgspec import to_builtins
from programs import argv
from texts import translation_records

from realformer_nmt.common.files import json_records
from realformer_nmt.common.files.text_lines import read_lines, sha256
from realformer_nmt.evaluation.metrics import metrics
from realformer_nmt.evaluation.scoring import scoring
from realformer_nmt.evaluation.scoring.score import ScoreRequest
from realformer_nmt.evaluation.translating import translation_record


def folder_of(
    folder: Path,
    raw: list[str],
    reference: list[str] | None = None,
    words: list[list[str]] | None = None,
    **changes: Any,
) -> Path:
    """Fill a folder as `translate` does."""
    folder.mkdir(exist_ok=True)
    files = {"hypotheses.txt": raw}
    if words:
        files |= {"hypotheses.tok": words[0], "reference.tok": words[1]}
    if reference is not None:
        (folder / "reference.txt").write_text("".join(f"{line}\n" for line in reference), newline="\n")
    for name, lines in files.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), newline="\n")
    recorded = {name: sha256(folder / name) for name in files}
    record = translation_records.record(subset="test", lines=len(raw), files=recorded)
    json_records.write_sealed(folder / "translation.json", {**to_builtins(record), **changes})
    return folder


def request(folder: Path, *more: str) -> ScoreRequest:
    fixed = (folder, "--output", folder / "run.json", "--reference", folder / "reference.txt")
    return argv.read(ScoreRequest, *fixed, *more)


def scored(folder: Path, *more: str) -> dict[str, metrics.Score]:
    args = request(folder, *more)
    translation = translation_record.read(folder)
    lines = [read_lines(folder / name) for name in ("hypotheses.txt", "reference.txt")]
    with metrics.seeded(args.seed):
        return scoring.score(args, translation, *lines)
