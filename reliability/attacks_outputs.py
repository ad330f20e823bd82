"""Outputs that are somebody else's: every command, at every argument that says where to write, leaves them as they are.

In the place of each file that a command writes stands a text, the record of another command, a link to a text, a link
that leads nowhere, or a folder: the command ends in one line.
"""

import hashlib
import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec import to_builtins

from realformer_nmt.common.files import json_records
from realformer_nmt.data_bins.file_checks import describe
from reliability import hostile_files, kills, watched
from reliability.attacks_files import Figures, hold, packed
from reliability.fuzzed_inputs import FILE, PREPARED, RUN, TEXT
from reliability.trainings import check

TEXTS = ["text", "subwords", "pieces", "data-bin", "stages", "test.raw.en", "prepare.json"]
OWN = "ok.en ok.de"
TRAIN = "train --data {data} --arch admin --layers 1 --gpus 0 --protocol small"


class Call(NamedTuple):
    """A command that writes to `out`, and what it writes there; `shared`: whether that may be a folder in use."""

    words: str
    spots: tuple[str, ...]
    shared: bool = False
    announced: str = ""  # what it prints before the line that refuses, where its work has begun


def _into(words: str, *names: str) -> Call:
    return Call(words, ("out", *(f"out/{name}" for name in names)), shared=True)


CALLS = {  # by command and argument
    "fetch --folder": _into("fetch m.toml --archives archives --quiet --folder out", "texts/a/x.en"),
    "prepare --folder": _into(
        f"prepare --source en --target de --train {OWN} --valid {OWN} --folder out", *TEXTS, "valid.raw.de"
    ),
    "sample --folder": Call("sample prepared --share 0.5 --folder out", ("out", "out/prepare.json")),
    "train --folder": Call(f"{TRAIN} --folder out", ("out", "out/train.json", "out/train.log", "out/checkpoints")),
    "train --aim-repo": _into(f"{TRAIN} --folder new --aim-repo out"),
    "average --output": Call("average good.pt --output out", ("out", "out.json")),
    "translate --output": _into(
        "translate good.pt --data {data} --subwords none --cpu --output out",
        *("hypotheses.txt", "hypotheses.tok", "reference.tok", "translation.json"),
    ),
    "score --output": Call("score translation --reference text --output out", ("out",)),
    "evaluate --output": Call("evaluate good.pt --data {data} --output out.json", ("out.json", "out.sequences.tsv")),
    "answer --output": _into(
        "answer good.pt --questions questions.json --data questions --output out", "answers.json", "record.json"
    ),
    "score-squad --output": Call("score-squad answers.json --questions questions.json --output out", ("out",)),
    "significance --output": Call("significance run.json other.json --output out", ("out",)),
    "export --output": Call("export good.pt --to fairseq --output out", ("out",)),
    "analyse --output": _into("analyse good.pt --sentences 2 --cpu --output out", "analysis.json", "looks_encoder.png"),
    "run --folder": Call(
        "run m.toml --layers 1 --archives archives --gpus 0 --folder out",
        ("out", *(f"out/data/{name}" for name in TEXTS)),
        shared=True,
        announced="realformer-nmt prepare m.toml --folder out/data --archives archives --subwords moses_bpe\n",
    ),
    "compare --folder": _into(
        "compare grid.toml --gpus 0 --folder out",
        *("results.json", "report.html", "table.md", "table.csv", "table.tex", "depth.png", "bleu_by_depth.svg"),
    ),
    "compare --aim-repo": _into("compare grid.toml --gpus 0 --folder new --aim-repo out"),
}


def attack(data: Path, folder: Path) -> Figures:
    """`data`: the data-bin of trainings.corpus."""
    folder.mkdir()
    kills.train(data, folder / "run", 25)
    return {"outputs": refuse_all(data, folder / "run" / kills.CHECKPOINT, folder / "current")}


def refuse_all(data: Path, checkpoint: Path, current: Path, step: int = 1) -> int:
    """Check that outputs of others are left as they are, and return how many were tried."""
    write_inputs(current, data, checkpoint)
    cases = list(itertools.islice(_cases(), 0, None, step))
    for name, spot, thing in cases:
        call = CALLS[name]
        place(current, spot, thing)
        before = snapshot(current)
        outcome = watched.run(call.words.format(data=data).split(), current, current)
        outcome = outcome._replace(output=outcome.output.removeprefix(call.announced))
        hold(f"{name}, {spot}: {thing}", current, outcome)
        after = snapshot(current)
        changed = [file for file, state in before.items() if after.get(file) != state]
        check(not changed, f"{name}, {spot}: {thing}: {changed} changed; {outcome.output}")
        clear(current, set(snapshot(current)) - set(before))
    return len(cases)


def _cases() -> Iterator[tuple[str, str, str]]:
    for name, call in CALLS.items():
        for spot, thing in itertools.product(call.spots, THINGS):
            if not (call.shared and spot == "out" and thing == "folder"):
                yield name, spot, thing


def write_inputs(current: Path, data: Path, checkpoint: Path) -> None:
    """All that the commands read, as far as they read it before they look at what they would write."""
    current.mkdir()
    shutil.copyfile(checkpoint, current / "good.pt")
    for language, word in (("en", "a dog"), ("de", "ein Hund")):
        (current / f"ok.{language}").write_text("".join(f"{word} number {number}\n" for number in range(60)))
    (current / "archives").mkdir()
    archive = packed(("x.en", "x.de"))
    (current / "archives" / "a.tar").write_bytes(archive)
    manifest = hostile_files.MANIFEST_TEXT.format(**hostile_files.MANIFEST, sha256=hashlib.sha256(archive).hexdigest())
    (current / "m.toml").write_text(manifest)
    (current / "grid.toml").write_text(hostile_files.grid({}, data, current))
    shutil.copytree(data, current / "prepared" / "data-bin")
    files = to_builtins(describe(current / "prepared", sorted((current / "prepared" / "data-bin").iterdir())))
    prepared = {**PREPARED, "pairs": {"train": 9}, "pieces": {}, **files}
    json_records.write_sealed(current / "prepared" / "prepare.json", prepared)
    write_scored(current)
    (current / "questions").mkdir()
    for name in ("questions.json", "answers.json", "questions/dict.txt", "questions/sentencepiece.model"):
        (current / name).write_text("{}")


def write_scored(current: Path) -> None:
    (current / "translation").mkdir()
    for text in ("text", "translation/hypotheses.txt"):
        (current / text).write_bytes(TEXT)
    translation = {**RUN["translation"], "files": {"hypotheses.txt": FILE.sha256}}
    json_records.write_sealed(current / "translation" / "translation.json", translation)
    for name in ("run.json", "other.json"):
        json_records.write_sealed(current / name, RUN)


def place(current: Path, spot: str, thing: str) -> None:
    clear(current, {"out", "out.json", "out.sequences.tsv", "new", "notes.txt"})
    (current / "notes.txt").write_text("weeks of work\n")
    path = current / spot
    path.parent.mkdir(parents=True, exist_ok=True)
    THINGS[thing](path, current)


def _folder(path: Path, current: Path) -> None:
    path.mkdir()
    shutil.copyfile(current / "notes.txt", path / "notes.txt")


THINGS: dict[str, Callable[[Path, Path], object]] = {
    "text": lambda path, current: shutil.copyfile(current / "notes.txt", path),
    "record": lambda path, _: json_records.write_sealed(
        path, {"command": "another's", "made_from": {}, "outputs": {path.name: {"sha256": "0"}}}
    ),
    "link": lambda path, current: path.symlink_to(current / "notes.txt"),
    "dangling link": lambda path, current: path.symlink_to(current / "nothing"),
    "folder": _folder,
}


def snapshot(current: Path) -> dict[str, str | bytes]:
    """Return for each path what it leads to, what it holds, or that it is a folder."""
    return {str(path.relative_to(current)): _state(path) for path in current.rglob("*") if path.name not in watched.OWN}


def _state(path: Path) -> str | bytes:
    if path.is_symlink():
        return str(path.readlink())
    return path.read_bytes() if path.is_file() else "a folder"


def clear(current: Path, names: set[str]) -> None:
    for name in names:
        path = current / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
