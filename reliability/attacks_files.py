"""Grids, protocols and manifests that are hostile: each ends in one line, or does nothing but what it says.

Of each case: no file beside the folder that was named, no process, no connection, no line of code from a file, and no
escape sequence on the terminal.
"""

import hashlib
import io
import itertools
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reliability import hostile_files, watched
from reliability.trainings import check
from reliability.watched import Outcome

Figures = dict[str, Any]


def attack(data: Path, folder: Path) -> Figures:
    """`data`: the data-bin of trainings.corpus."""
    folder.mkdir()
    return {
        "grids": refuse_grids(data, folder / "grids"),
        "protocols": refuse_protocols(data, folder / "protocols"),
        "manifests": refuse_manifests(folder / "manifests"),
    }


def world(folder: Path) -> tuple[Path, Path]:
    """The current folder of hostile commands, and a plug-in."""
    evil = folder / "evil"
    evil.mkdir(parents=True)
    (evil / "__init__.py").write_text(f"open({str(folder / 'pwned')!r}, 'w')\n")
    return folder, evil


def hold(name: str, current: Path, outcome: Outcome, refused: bool | None = True) -> None:
    """`refused`: whether it must be, None where it may."""
    status, output, strayed = outcome
    check(not strayed, f"{name}: {strayed}")
    check(not list(current.parent.rglob("pwned*")), f"{name} left a file")
    steering = [line for line in output.split("\n") if not line.replace("\t", "").isprintable()]
    check(not steering, f"{name} steers the terminal: {steering}")
    check(status in ((1,) if refused else (0,) if refused is False else (0, 1)), f"{name}: {status}, {output[-2000:]}")
    if status:
        lines = output.splitlines()
        check(len(lines) == 1 and lines[0].startswith("realformer-nmt: "), f"{name}: {output[-2000:]}")
        check("unexpected error" not in output, f"{name}: {output}")


def refuse_grids(data: Path, folder: Path, step: int = 1) -> int:
    current, evil = world(folder)
    cases = [(name, changes, True) for name, changes in itertools.islice(hostile_files.grids(), 0, None, step)]
    cases += [(name, changes, False) for name, changes in hostile_files.harmless_grids().items()]
    for name, changes, refused in cases:
        (current / "grid.toml").write_text(hostile_files.grid(changes, data, evil))
        for how in ("--plan --tflops 1",) if refused else ("--plan --tflops 1", "--status"):
            words = f"compare grid.toml --gpus 0 --folder out {how}".split()
            hold(f"{name} {how}", current, watched.run(words, current, current / "out"), refused)
    return len(cases)


def refuse_protocols(data: Path, folder: Path, step: int = 1) -> int:
    current, evil = world(folder)
    cases = hostile_files.PROTOCOLS[::step]
    train = ["train", "--data", str(data), "--folder", "out", "--arch", "admin", "--layers", "1", "--gpus", "0"]
    for text in cases:
        (current / "own.toml").write_text(text.replace(hostile_files.EVIL, str(evil)))
        for words in (["protocol", "own.toml", "--layers", "1"], [*train, "--protocol", "own.toml", "--dry-run"]):
            hold(f"{words[0]} {text}", current, watched.run(words, current, current / "out"))
    return len(cases)


def refuse_manifests(folder: Path, step: int = 1) -> int:
    """Their archive is whole, and holds members under the names that they ask for."""
    current, evil = world(folder)
    (current / "archives").mkdir()
    cases = hostile_files.MANIFESTS[::step]
    for changes in cases:
        fields = {**hostile_files.MANIFEST, **changes}
        archive = packed(f"{fields['member']}.{side}" for side in ("en", "de"))
        (current / "archives" / "a.tar").write_bytes(archive)
        text = hostile_files.MANIFEST_TEXT.format(**fields, sha256=hashlib.sha256(archive).hexdigest())
        (current / "m.toml").write_text(text.replace(hostile_files.EVIL, str(evil)))
        for command in ("fetch", "prepare"):
            words = f"{command} m.toml --folder out --archives archives --quiet".split()
            hold(f"{command} {changes}", current, watched.run(words, current, current / "out"))
    return len(cases)


def packed(names: Iterable[str]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name in names:
            info = tarfile.TarInfo(name.replace("\\u0000", ""))
            info.size = 6
            archive.addfile(info, io.BytesIO(b"a dog\n"))
    return stream.getvalue()
