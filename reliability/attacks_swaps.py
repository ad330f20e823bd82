"""Files of one run in the place of another's: no command ends well with a number that belongs to something else.

The two runs are cells of one comparison that differ in their seed alone; a cell's folder is a run's folder as well.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from realformer_nmt.comparison.results import results_file
from reliability import watched
from reliability.attacks_files import COMPARE, Figures, hold
from reliability.trainings import check

HYPOTHESES, TRANSLATION = "translation/hypotheses.txt", "translation/translation.json"
SWAPPED = (
    *(("cell.json",), ("train.json",), ("curves.jsonl",), ("average.pt",), ("average.pt.json",)),
    *((TRANSLATION,), (HYPOTHESES,), ("run.json",), ("average.pt", "average.pt.json")),
    *((TRANSLATION, HYPOTHESES), (TRANSLATION, HYPOTHESES, "run.json"), ("train.json", "curves.jsonl")),
    ("average.pt", "average.pt.json", TRANSLATION, HYPOTHESES, "run.json"),
    ("cell.json", "train.json", "curves.jsonl"),
    ("cell.json", "train.json", "curves.jsonl", "average.pt", "average.pt.json", "translation", "run.json"),
)
USES = {  # what must be refused in a run's folder where the file is another run's
    "score": ("train.json", TRANSLATION, HYPOTHESES),
    "translate": ("average.pt", "average.pt.json", "train.json"),
    "analyse": ("average.pt", "average.pt.json", "train.json"),
    "export": ("average.pt", "average.pt.json", "train.json"),
    "significance": ("run.json", HYPOTHESES),
}
MEASURED = ("scores", "hours", "parameters", "curves", "tokens_a_second", "started", "settings", "unigram_entropy")


def attack(grid: Path, runs: Path, folder: Path, swapped: Sequence[tuple[str, ...]] = SWAPPED) -> Figures:
    """`runs`: what `compare` made of the grid, at least two cells that are done."""
    folder.mkdir()
    shutil.copy(grid, folder / "grid.toml")
    whole = report(folder, runs)
    check(sum(cell["state"] == "done" for cell in whole.values()) > 1, f"not done: {[*whole]}")
    for names in swapped:
        refuse_in_comparison(folder, runs, names, whole)
    tried = [(use, name) for names in swapped if len(names) == 1 for name in names for use in USES if name in USES[use]]
    for use, name in tried:
        refuse_in_run(folder, runs, use, name)
    return {"sets of files swapped between cells": len(swapped), "files of another run given to a command": len(tried)}


def swap(runs: Path, folder: Path, names: Sequence[str], checkpoints: bool = False) -> list[Path]:
    """A copy of the comparison, as deep in the disk, whose first two cells have each other's files."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    shutil.copytree(runs, folder / "out", ignore=None if checkpoints else shutil.ignore_patterns("checkpoints"))
    cells = sorted((folder / "out" / "cells").iterdir())[:2]
    for name in names:
        one, other = (cell / name for cell in cells)
        one.rename(one.with_name("kept"))
        other.rename(one)
        one.with_name("kept").rename(other)
    return cells


def report(folder: Path, runs: Path, names: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """The cells of results.json, by name; none where it refuses in one line."""
    swap(runs, folder, names)
    results = folder / "out" / "results.json"
    outcome = asked(folder, "compare grid.toml --report")
    hold(f"report of {names}", folder, outcome, refused=None if names else False)
    cells = [] if outcome.status else to_builtins(results_file.read(results))["cells"]
    return {cell["name"]: cell for cell in cells}


def asked(folder: Path, words: str) -> watched.Outcome:
    more = COMPARE.split() if words.startswith("compare") else ()
    return watched.run([*words.split(), *more], folder, folder / "out")


def refuse_in_comparison(folder: Path, runs: Path, names: Sequence[str], whole: dict[str, dict[str, Any]]) -> None:
    """Check that what a report shows of a cell is the cell's or nothing, and that another folder takes none of it."""
    for name, cell in report(folder, runs, names).items():
        shown = [key for key in MEASURED if is_foreign(cell[key], whole[name][key])]
        check(not shown, f"{name} shows {shown} of another cell where {names} are swapped: {cell['state']}")
        same = all(cell[key] == whole[name][key] for key in MEASURED)
        has_warning = cell["state"] == "damaged" or bool(cell["differences"])
        check(has_warning or same, f"{name} says nothing of {names}: {cell['state']}")
    check(asked(folder, "compare grid.toml").status == 1, f"{names} were swapped, and compare went on")
    (folder / "out").rename(folder / "other")
    (folder / "out").mkdir()
    hold(f"{names}, merged", folder, asked(folder, "compare grid.toml --merge other"))
    shutil.rmtree(folder / "other")


def is_foreign(value: Any, cell_value: Any) -> bool:
    """Return whether a value shows anything that is not the cell's own."""
    if isinstance(value, dict) and isinstance(cell_value, dict):
        return any(is_foreign(inner, cell_value.get(name)) for name, inner in value.items())
    return bool(value) and value != cell_value


def refuse_in_run(folder: Path, runs: Path, use: str, name: str) -> None:
    one, other = swap(runs, folder, [name], checkpoints=True)
    data = json.loads((one / "train.json").read_text())["words"][0]
    words = {
        "score": f"score {one}/translation --training {one}/train.json --output out/s.json --bootstrap 0",
        "translate": f"translate {one} --data {data} --subwords none --cpu --output out/t",
        "analyse": f"analyse {one} --data {data} --cpu --output out/a",
        "export": f"export {one} --data {data} --subwords none --to fairseq --output out/e",
        "significance": f"significance {one}/run.json {other}/run.json --samples 9",
    }
    reference = f" --reference {data}/../test.tgt" if use == "score" else ""
    hold(f"{use} where {name} is another run's", folder, asked(folder, words[use] + reference))
