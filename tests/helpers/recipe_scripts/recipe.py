"""The recipes' own scripts, on archives in miniature and with tiny models."""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from programs import fork_client
from programs.commands import OURS, REPOSITORY, SERVED, fairseq, server

RUN = "realformer-1-realformer-s1111"  # the folder of a run that is given no name
TINY = ["--layers", "1", "--workers", "1", "--gpus", "0", "--max-tokens", "600", "--tokens-a-step", "600"]
TINY += ["--epochs", "3", "--average", "2"]
FLAGS = [f"--{side}-{name}" for side in ("encoder", "decoder") for name in ("embed-dim", "ffn-embed-dim")]
FLAGS = ["--", *(word for flag in FLAGS for word in (flag, "32")), "--warmup-updates", "4", "--lr", "0.01"]


def script(recipe: str, manifest: Path, folder: Path, *options: str, flags: Sequence[str] = FLAGS) -> list[str]:
    run = REPOSITORY / "recipes" / recipe / "run.sh"
    return [str(run), "--corpus", str(manifest), "--folder", str(folder), *TINY, *options, *flags]


def commands(printed: str, program: str) -> list[list[str]]:
    """Return a program's lines of a dry run: ours are run when it is pasted, those of another stand in comments."""
    lines = [
        line.removeprefix("# ") for line in printed.splitlines() if (program == "realformer-nmt") != (line[:1] == "#")
    ]
    return [words for words in map(shlex.split, lines) if words[0] == program]


def path_with_program(folder: Path, words: Sequence[str] = OURS) -> str:
    """A PATH on which `realformer-nmt` is this checkout's, installed or not, or other words; with its `python`."""
    folder.mkdir(exist_ok=True)
    write_program(folder / "realformer-nmt", words)
    write_program(folder / "python", [sys.executable])
    return os.pathsep.join((str(folder), os.environ["PATH"]))


def write_program(program: Path, words: Sequence[str]) -> None:
    program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    program.chmod(0o755)


def forked(which: str = "ours", words: Sequence[str] = OURS[1:]) -> list[str]:
    """The words of `realformer-nmt` in forks of a server. A signal to them reaches no fork."""
    return [sys.executable, "-IS", str(Path(fork_client.__file__)), server(which), *words]


def path_with_fairseq(folder: Path) -> str:
    """A PATH on which `realformer-nmt` and fairseq's commands are forks."""
    path = path_with_program(folder, forked())
    for name, which in SERVED.items():
        write_program(folder / name, forked(which, fairseq(name.removeprefix("fairseq-"))))
    return path
