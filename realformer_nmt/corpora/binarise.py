"""The last stage: fairseq's own binarisation, fairseq-preprocess, and a check that it lost no line."""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from realformer_nmt.common.child_processes import dying_with_us
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.programs import program
from realformer_nmt.corpora.progress import progress
from realformer_nmt.corpora.texts import is_test, splits
from realformer_nmt.data_bins.index import HEADER


def command(
    texts: Path, languages: tuple[str, str], folder: Path, workers: int, dictionaries: Sequence[Path], joined: bool
) -> list[str]:
    """Of the splits that have a line; `dictionaries`, of the source and of the target or one of both, are taken over,
    without them fairseq counts the training text."""
    source, target = languages
    present = [name for name in splits(texts, source) if (texts / f"{name}.{source}").stat().st_size]
    prefixes = {name: str(texts / name) for name in present if not is_test(name)}
    tests = ",".join(str(texts / name) for name in present if is_test(name))
    return program(
        "fairseq_cli.preprocess",
        *("--source-lang", source, "--target-lang", target),
        *(word for name, prefix in prefixes.items() for word in (f"--{name}pref", prefix)),
        *(["--testpref", tests] if tests else []),
        *("--destdir", str(folder), "--workers", str(workers)),
        *(["--joined-dictionary"] if joined else []),
        *(word for pair in zip(("--srcdict", "--tgtdict"), map(str, dictionaries), strict=False) for word in pair),
    )


def binarise(
    texts: Path,
    languages: tuple[str, str],
    folder: Path,
    workers: int,
    dictionaries: Sequence[Path],
    joined: bool,
    tokens: int | None = None,
    quiet: bool = False,
) -> dict[str, int]:
    """The number of lines of each split in the data-bin; `tokens` are what the progress bar goes up to."""
    words = command(texts, languages, folder, workers, dictionaries, joined)
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    with tempfile.TemporaryFile() as output, progress("data-bin", tokens and 2 * tokens, quiet=quiet) as bar:
        process = subprocess.Popen(words, env=environment, stdout=output, stderr=output, **dying_with_us())
        running = True
        while running:
            running = not ended(process)
            bar.update(min(written(folder), bar.total or sys.maxsize) - bar.n)
        output.seek(0)
        told = "\n".join(output.read().decode(errors="replace").strip().splitlines()[-15:])
    if process.returncode:
        raise UserError(f"fairseq-preprocess ended with status {process.returncode}:\n{told}")
    (folder / "preprocess.log").unlink(missing_ok=True)  # times and paths
    pair = "-".join(languages)
    counts: dict[str, int] = {}
    for name in splits(texts, languages[0]):
        for language in languages:
            index = folder / f"{name}.{pair}.{language}.idx"
            if index.exists():
                counts[name] = demand_same(texts / f"{name}.{language}", index)
    return counts


def ended(process: "subprocess.Popen[bytes]") -> bool:
    """It waits half a second at most."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(0.5)
    return process.returncode is not None


def written(folder: Path) -> int:
    """The parts that fairseq-preprocess's processes write come and go."""
    total = 0
    for file in folder.glob("*.bin"):
        with contextlib.suppress(FileNotFoundError):
            total += file.stat().st_size
    return total


def demand_same(text: Path, index: Path) -> int:
    with index.open("rb") as file:
        binarised: int = HEADER.unpack(file.read(HEADER.size))[3]
    with text.open("rb") as file:
        written = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
    if binarised != written:
        raise UserError(
            f"{text} has {written} lines, but fairseq binarised {binarised}: a line holds what it splits at"
        )
    return written
