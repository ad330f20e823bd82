"""A printed command, taken apart as a shell would, and what its flags say."""

import shlex
from pathlib import Path
from typing import Any

from realformer_nmt import cli


def number(word: str) -> Any:
    try:
        return float(word)
    except ValueError:
        return word


def flags(words: list[str]) -> dict[str, Any]:
    """--name value, --name alone as True; what comes later holds."""
    values: dict[str, Any] = {}
    for place, word in enumerate(words):
        if word.startswith("--"):
            following = words[place + 1] if place + 1 < len(words) else "--"
            values[word[2:]] = True if following.startswith("--") else number(following)
    return values


def dry_run(capsys: Any, *arguments: object) -> list[str]:
    """The words of the command that `realformer-nmt train --dry-run` prints."""
    capsys.readouterr()
    words = [str(argument) for argument in arguments]
    cut = words.index("--") if "--" in words else len(words)
    assert cli.main(["train", *words[:cut], "--dry-run", *words[cut:]]) == 0
    first, line = capsys.readouterr().out.splitlines()
    assert first.startswith("mkdir -p ")
    return shlex.split(line)


def train_options(tmp_path: Path, *options: object, data: Path | None = None) -> list[str]:
    """Return the options of a training of 18 layers, unless they name the layers."""
    start = ["--data", data or tmp_path / "data/data-bin", "--folder", tmp_path / "run", "--arch", "realformer"]
    return [str(word) for word in (*start, *([] if "--layers" in options else ["--layers", 18]), *options)]
