"""Hostile servers, archives, manifests, grids and names: the suite's tables of them, counted; and two trainings in one
folder, of which the second is refused until the first has been killed."""

from pathlib import Path
from typing import Any

from reliability import kills
from reliability.inputs import passed
from reliability.trainings import check, fairseq_train, kill, run, start, wait_for

TABLES = {
    "names of files": "tests/common/files/test_safe_names.py",
    "manifests": "tests/corpora/test_manifest.py",
    "grids": "tests/comparison/test_corpus.py",
    "servers": "tests/corpora/archives/test_download.py",
    "archives": "tests/corpora/archives/test_extract.py",
    "writers of one file": "tests/common/files/test_atomic_files.py",
    "text to a terminal": "tests/common/test_terminal.py",
    "clients of the server": "tests/serving/test_middleware.py",
    "files of the server, moved": "tests/serving/test_moved_files.py",
    "cells of a spreadsheet": "tests/comparison/report/test_tables.py",
}


def attack(data: Path, folder: Path) -> dict[str, Any]:
    folder.mkdir(parents=True)
    figures = {name: passed(file) for name, file in TABLES.items()}
    return {**figures, "second training": second_training(data, folder)}


def second_training(data: Path, folder: Path) -> str:
    words = fairseq_train(data, folder / "run", *kills.SAVING)
    log = folder / "first.log"
    first = start([*words, "--max-update", "100000"], log)
    try:
        wait_for(lambda: kills.reached(log) >= 1, first, log)
        refused = run([*words, "--max-update", "20"])
    finally:
        kill(first)
    check(refused.returncode != 0, refused.stdout[-3000:])
    check("run: another process trains in it; wait, or end that process" in refused.stdout, refused.stdout[-3000:])
    done = run([*words, "--max-update", str(kills.reached(log) + 1)])
    check(done.returncode == 0, done.stdout[-3000:])
    return "refused, until the first was killed"
