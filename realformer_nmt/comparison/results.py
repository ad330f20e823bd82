"""results.json: everything measured, gathered from the cells' own records, whether all are done or not."""

import shlex
import statistics
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from realformer_nmt.common.json_records import expected
from realformer_nmt.common.provenance import MADE_FROM
from realformer_nmt.common.versions import commit, versions
from realformer_nmt.comparison import analyses, axes, best, choice, scored, summary, tuning, unlike
from realformer_nmt.comparison.cell import Cell, read
from realformer_nmt.comparison.corpus import Corpus
from realformer_nmt.comparison.curves import Curves
from realformer_nmt.comparison.examples import examples
from realformer_nmt.comparison.grid import Grid
from realformer_nmt.comparison.note import DAMAGED, Note
from realformer_nmt.comparison.plan import commands
from realformer_nmt.comparison.standing import differences
from realformer_nmt.comparison.tasks import SCORINGS
from realformer_nmt.comparison.translated import TEST
from realformer_nmt.evaluation import metric_table
from realformer_nmt.evaluation.significance import TESTS
from realformer_nmt.protocols.command import layers, pasted
from realformer_nmt.protocols.tasks import TASKS

Record = dict[str, Any]


def gather(grid: Grid, corpus: Corpus, cells: Sequence[Cell], command: Sequence[str]) -> Record:
    described = []
    for cell in cells:
        with expected(cell.folder, "--anew makes it again"):
            described.append(describe(cell))
    runs = [run_of(cell) for cell in cells]
    first = next((run for run in runs if run), {})
    table = scored_on(grid, cells, described, runs)
    test: Record = {"name": TESTS[TEST], "metric": SCORINGS[grid.task].tested(grid.drawn)}
    test |= {"samples": summary.SAMPLES, "correction": "Holm"}
    return {
        "name": grid.name,
        "title": grid.title or grid.name,
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "complete": all(Note(cell).final for cell in cells),
        "grid": grid.written,
        "command": shlex.join(command),
        "commit": commit(),
        "versions": versions(),
        "hardware": machines(cells),
        "corpus": first.get("corpus") or corpus.name,
        "languages": list(corpus.pair()),
        "metric": grid.drawn,
        "baseline": baseline(grid),
        "axes": list(grid.axes or {}),
        "overrides": unlike.settings(described, grid.axes or {}),
        "versions_apart": unlike.versions(described),
        "test": test,
        "published": first.get("published", []),
        "unit": first.get("unit", "lines"),
        "cells": described,
        **{**table, "metrics": [*table["metrics"], metric_table.described(metric_table.LOSS)]},
        "tuned": tuned(grid, cells, described, table["rows"]),
        "further": [further(grid, cells, described, subset) for subset in grid.subsets[1:]],
        "examples": examples(cells, runs),
        "analyses": analyses.gather(cells[0].folder.parents[1], cells),
    }


def scored_on(grid: Grid, cells: Sequence[Cell], described: Sequence[Record], runs: Sequence[Record]) -> Record:
    """The table of one test set; `described` and `runs` are in the order of the cells."""
    first = next((run for run in runs if run), {})
    metrics = [
        {**metric_table.described(name), "label": found["metric"], "signature": signatures(runs, name)}
        for name, found in first.get("scores", {}).items()
    ]
    rows = summary.rows(described, cells, grid.drawn, baseline(grid))
    return {
        "subset": cells[0].subset,
        "lines": first.get("lines"),
        "metrics": metrics,
        "rows": best.mark(rows, cells, grid.drawn),
    }


def signatures(runs: Sequence[Record], metric: str) -> str:
    """One, or as many as seeds that mask other words."""
    found = (run["scores"][metric]["signature"] for run in runs if metric in run.get("scores", {}))
    return ", ".join(dict.fromkeys(found))


def tuned(grid: Grid, cells: Sequence[Cell], described: Sequence[Record], rows: Sequence[Record]) -> Record | None:
    """Each family with the values that suit it."""
    if not grid.tune:
        return None
    tried = [record for record in described if choice.tries(grid, record["seed"])]
    made = tuning.rows(rows, tried, cells, grid.drawn, baseline(grid), grid.tune)
    return {"axes": list(grid.tune), "seeds": list(grid.tune_seeds or grid.seeds), "rows": made}


def further(grid: Grid, cells: Sequence[Cell], described: Sequence[Record], subset: str) -> Record:
    """The same trainings on another test set."""
    on = [replace(cell, subset=subset) for cell in cells]
    runs = [run_of(cell) for cell in on]
    rescored = [{**record, "scores": scores(run)} for record, run in zip(described, runs, strict=True)]
    return scored_on(grid, on, rescored, runs)


def baseline(grid: Grid) -> str:
    return grid.baseline or grid.families[0]


def run_of(cell: Cell) -> Record:
    """Nothing of a cell whose results are not to be believed."""
    return {} if Note(cell).state == DAMAGED else scored.read(cell.scores)


def describe(cell: Cell) -> Record:
    note, run = Note(cell), run_of(cell)
    folder, content = (cell.folder / "mixed", {}) if note.breaks else (cell.folder, note.content)  # which is not there
    train, average = read(folder / "train.json"), read(folder / "average.pt.json")
    curves, made = Curves(folder, cell.task), settings(train, average, run)
    sessions = content.get("sessions")
    return {
        "name": cell.name,
        "family": cell.family,
        "layers": list(layers(cell.layers, TASKS[cell.task].sides)),
        "depth": cell.layers,
        "seed": cell.seed,
        "axes": axes.measured(cell.point, made),
        "state": note.state,
        "evidence": note.evidence,
        "scores": scores(run),
        "parameters": run.get("parameters"),
        "tokens_a_second": speed(curves),
        "hours": train.get("wall_clock_hours"),
        "gpu_hours": train.get("gpu_hours"),
        "started": sessions[0]["started"] if sessions else None,
        "finished": sessions[-1]["finished"] if sessions else None,
        "device": train.get("device"),
        "host": content.get("machine", {}).get("host"),
        "commands": commands(cell),
        "settings": made,
        "versions": made_with(train, run),
        "differences": differences(cell),
        "fairseq_train": pasted(train["command"]) if "command" in train else None,
        "unigram_entropy": content.get("unigram_entropy"),
        "curves": {"train": curves.train, "valid": curves.valid},
        "shortcuts": run["models"][0].get("shortcuts", []) if run else [],
    }


def settings(train: Record, average: Record, run: Record) -> Record:
    """As they took effect, of what there is."""
    if not train:
        return {}
    found = {**train.get(MADE_FROM, {}).get("settings", {}), "protocol": train.get("protocol")}
    found |= {"averaging": average[MADE_FROM]["settings"]} if average else {}
    return found | {name: run[name] for name in ("decoding", "corpus", "lines") if name in run}


def made_with(train: Record, run: Record) -> Record:
    """The versions that trained; of several sessions, each."""
    sessions = [session["versions"] for session in train.get("sessions", []) if "versions" in session]
    names = dict.fromkeys(name for made in sessions for name in made)
    found = {name: ", ".join(dict.fromkeys(made[name] for made in sessions if name in made)) for name in names}
    return found | ({"commit": run["commit"]} if run.get("commit") else {})


def scores(run: Record) -> Record:
    found = {
        name: {key: score.get(key) for key in ("score", "interval")} for name, score in run.get("scores", {}).items()
    }
    loss = scored.validation_loss(run)
    return found if loss is None else {**found, metric_table.LOSS: {"score": loss}}


def speed(curves: Curves) -> float | None:
    """Target tokens, over the whole training; the first points still warm up."""
    speeds = [point["tokens_a_second"] for point in curves.train if "tokens_a_second" in point]
    return statistics.median(speeds[len(speeds) // 5 :]) if speeds else None


def machines(cells: Sequence[Cell]) -> list[Record]:
    """Each once, with the GPUs that its cells name."""
    found: dict[str, Record] = {}
    for cell in cells:
        machine = Note(cell).content.get("machine")
        if machine:
            known = found.setdefault(machine["host"], {**machine, "gpus": []})
            device = read(cell.folder / "train.json").get("device", "CPU")
            if device not in ("CPU", *known["gpus"]):
                known["gpus"].append(device)
    return list(found.values())
