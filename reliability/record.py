"""Findings of the trials, in docs/results/reliability.json and as the tables of docs/results/reliability.md."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from realformer_nmt.common.files.atomic_files import completed
from realformer_nmt.common.files.json_records import write_json
from reliability.trainings import REPOSITORY

FIGURES = REPOSITORY / "docs" / "results" / "reliability.json"
PAGE = REPOSITORY / "docs" / "results" / "reliability.md"
TITLES = {
    "kills": "Kills",
    "disks": "Disks",
    "ranks": "Ranks on one machine",
    "slurm": "A cluster of SLURM",
    "soak": "A long training",
    "fuzzing": "Fuzzing",
    "kernels": "Odd calls of the kernels in C",
    "checkpoints": "Hostile checkpoints",
    "data-bins": "Hostile data-bins",
    "files": "Hostile grids, protocols and manifests",
    "outputs": "Files that are not theirs",
}
GENERATED = re.compile(r"(?<=<!-- figures -->\n).*(?=<!-- end of figures -->)", re.S)


def note(name: str, figures: dict[str, Any], about: dict[str, Any], file: Path = FIGURES, page: Path = PAGE) -> None:
    """Write a trial's figures beside those that are noted already of the others."""
    trials = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    trials[name] = {**figures, "about": about}
    write_json(file, trials)
    text = page.read_text(encoding="utf-8")
    with completed(page) as stream:
        stream.write(GENERATED.sub(lambda _: tables(trials), text).encode())


def tables(trials: dict[str, Any]) -> str:
    return "".join(f"\n### {TITLES[name]}\n\n{table(trials[name])}\n" for name in TITLES if name in trials) + "\n"


def table(figures: dict[str, Any]) -> str:
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows(figures))])


def rows(figures: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    for name, value in figures.items():
        if name == "about":
            yield from rows({"on": ", ".join(value[key] for key in ("processor", "system", "when"))})
            packages = ", ".join(f"{package} {version}" for package, version in value["versions"].items())
            yield from rows({"with": packages})
        elif isinstance(value, dict):
            yield from rows(value, f"{path}{name}: ")
        else:
            yield f"{path}{name}", shown(value)


def shown(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)
