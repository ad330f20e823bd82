"""Records of a comparison that are edited: without their seal they are refused; sealed anew, as a forger can, they are
data, or refused in one line. What is shown of them is text in the page, the tables and the terminal."""

import contextlib
import csv
import hashlib
import io
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

from realformer_nmt.common.files.json_records import SEAL, seal
from reliability import hostile_files, watched
from reliability.attacks_files import COMPARE, Figures, hold
from reliability.trainings import check

RECORDS = ("cell.json", "train.json", "average.pt.json", "translation/translation.json", "run.json")
REPORT = f"compare grid.toml {COMPARE} --report".split()
STATUS = f"compare grid.toml {COMPARE} --status".split()
FILES = ("results.json", "table.md", "table.csv", "table.tex")  # that the page links
SCRIPTS = {"script", "img", "iframe", "object", "embed", "link", "base", "form"}
CODE = re.compile(r"(?<!\\)`[^`]*`")  # of Markdown: markup in it is text
MARKUP = re.compile(r"(?<!\\)<script")
Key = str | int


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def attack(grid: Path, runs: Path, folder: Path, number: int) -> Figures:
    """`runs`: what `compare` made of the grid; `number` of values in places of others."""
    cell = copied(grid, runs, folder)
    hold("what was made", folder, watched.run(REPORT, folder, folder / "out"), refused=False)
    return {
        "records without their seal": refuse_unsealed(folder, cell),
        "records with another value": give_others(folder, cell, number),
        "records of hostile text": show_texts(folder, cell, hostile_files.TEXTS),
    }


def copied(grid: Path, runs: Path, folder: Path) -> Path:
    """A cell that is done, of a copy as deep in the disk: a record tells where its reference lies from there."""
    folder.mkdir()
    shutil.copytree(runs, folder / "out")
    shutil.copy(grid, folder / "grid.toml")
    cell = min((folder / "out" / "cells").glob("*/translation/translation.json")).parents[1]
    shutil.copy(cell / "run.json", cell / "before.json")
    return cell


def refuse_unsealed(folder: Path, cell: Path) -> int:
    page = folder / "out" / "report.html"
    for name in RECORDS:
        with edited(cell / name, [(next(places(read(cell / name))), "forged")], sealed=False):
            page.unlink(missing_ok=True)
            outcome = watched.run(REPORT, folder, folder / "out")
        hold(f"{name} without its seal", folder, outcome, refused=None)
        text = outcome.output if outcome.status else page.read_text()
        check("was changed since it was written" in text, f"{name} without its seal: {outcome.output}")
    return len(RECORDS)


def give_others(folder: Path, cell: Path, number: int) -> Figures:
    chance, refused = np.random.default_rng(1), 0
    spots = [(name, place) for name in RECORDS for place in places(read(cell / name))]
    for _ in range(number):
        name, place = spots[chance.integers(len(spots))]
        other = hostile_files.OTHERS[chance.integers(len(hostile_files.OTHERS))]
        tested = ["significance", *(str(cell / run) for run in ("before.json", "run.json")), "--samples", "9"]
        words = tested if name == "run.json" else STATUS
        with edited(cell / name, [(place, other)]):
            outcomes = [watched.run(command, folder, folder / "out") for command in (REPORT, words)]
        for outcome in outcomes:
            hold(f"{name} {place} {other!r:.50}", folder, outcome, refused=None)
        refused += outcomes[0].status
        if not outcomes[0].status:
            check_harmless(folder / "out", f"{name} {place} {other!r:.50}")
    return {"tried": number, "refused": refused}


def show_texts(folder: Path, cell: Path, texts: Sequence[str]) -> int:
    """All that is shown of a cell at once, its sentences among it; half a character damages it."""
    for text in texts:
        with contextlib.ExitStack() as stack:
            for name, shown in hostile_files.SHOWN.items():
                stack.enter_context(edited(cell / name, [(key(words), text) for words in shown]))
            stack.enter_context(sentences(cell, text))
            outcome = watched.run(REPORT, folder, folder / "out")
            hold(f"{text!r} shown", folder, outcome, refused=False)
            hold(f"{text!r} told", folder, watched.run(STATUS, folder, folder / "out"), refused=None)
        check("damaged" in outcome.output or text != hostile_files.HALF, f"{text!r} is shown: {outcome.output}")
        check_harmless(folder / "out", repr(text))
    return len(texts)


@contextlib.contextmanager
def sentences(cell: Path, text: str) -> Iterator[None]:
    """Translations that are one text, with the hash that the record holds."""
    file = cell / "translation" / "hypotheses.txt"
    before = file.read_bytes()
    line = text.replace("\n", "").encode("utf-8", "replace")
    file.write_bytes(b"\n".join([line] * before.count(b"\n")) + b"\n")
    with edited(cell / "run.json", [(key("files.hypotheses.sha256"), hashlib.sha256(file.read_bytes()).hexdigest())]):
        yield
    file.write_bytes(before)


def check_harmless(out: Path, name: str) -> None:
    """Check that a report has no script in its page, no formula in its spreadsheet, and nothing unseen in either."""
    page = Tags((out / "report.html").read_text(encoding="utf-8"))
    check(not SCRIPTS & set(page.tags) and page.tags.count("style") == 1, f"{name}: {set(page.tags)} in the page")
    acting = [(key, value) for key, value in page.attributes if key.startswith("on") or key == "style"]
    leading = [
        value
        for key, value in page.attributes
        if key in ("src", "href") and value not in FILES and not f"{value}".startswith("#")
    ]
    check(not acting and not leading, f"{name}: {acting} {leading} in the page")
    for file in ("table.csv", "table.md", "table.tex"):
        text = (out / file).read_text(encoding="utf-8")
        check(text.replace("\n", "").isprintable(), f"{name}: {file} holds {text}")
        marked = file != "table.csv" and MARKUP.search(CODE.sub("", text))
        check(not marked, f"{name}: {file} holds markup: {text}")
    table = (out / "table.csv").read_text(encoding="utf-8")
    cells = [cell for mark in ",;\t|" for line in csv.reader(io.StringIO(table), delimiter=mark) for cell in line]
    formulas = [cell for cell in cells if cell.strip()[:1] in tuple("=+-@") and not is_number(cell)]
    check(not formulas, f"{name}: {formulas} in the spreadsheet")


def is_number(cell: str) -> bool:
    with contextlib.suppress(ValueError):
        return isinstance(float(cell), float)
    return False


def read(file: Path) -> Any:
    return {name: value for name, value in json.loads(file.read_text()).items() if name != SEAL}


def places(value: Any) -> Iterator[tuple[Key, ...]]:
    """Yield the keys that lead to each value within a value, whatever it is."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        yield (name,)
        yield from ((name, *path) for path in places(inner))


def key(dotted: str) -> tuple[Key, ...]:
    return tuple(int(name) if name.isdigit() else name for name in dotted.split("."))


@contextlib.contextmanager
def edited(file: Path, changes: Sequence[tuple[tuple[Key, ...], Any]], sealed: bool = True) -> Iterator[None]:
    before = file.read_bytes()
    record = json.loads(before)
    for (*above, last), value in changes:
        table = record
        for name in above:
            table = table[name]
        table[last] = value
    content = {name: value for name, value in record.items() if name != SEAL}
    file.write_text(json.dumps({**content, SEAL: seal(content) if sealed else record[SEAL]}))
    yield
    file.write_bytes(before)
