"""The last stage of prepare: fairseq-preprocess, and a check that it lost no line."""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.parent_death_signal import dying_with_us
from realformer_nmt.common.python_subprocess import program
from realformer_nmt.corpora.clean_splits import is_test, splits
from realformer_nmt.corpora.progress import progress
from realformer_nmt.data_bins.index import HEADER


def command(
    texts: Path, languages: tuple[str, str], folder: Path, workers: int, dictionaries: Sequence[Path], joined: bool
) -> list[str]:
    """Build the argv of fairseq-preprocess for the splits that are not empty.

    `dictionaries` are one for both languages, or the source's and the target's. Without them fairseq builds its
    dictionaries from the training text."""
    source, target = languages
    present = [name for name in splits(texts, source) if (texts / f"{name}.{source}").stat().st_size]
    tests = ",".join(str(texts / name) for name in present if is_test(name))
    options = ["--source-lang", source, "--target-lang", target]
    for name in present:
        if not is_test(name):
            options += [f"--{name}pref", str(texts / name)]
    if tests:
        options += ["--testpref", tests]
    options += ["--destdir", str(folder), "--workers", str(workers)]
    if joined:
        options.append("--joined-dictionary")
    for option, dictionary in zip(("--srcdict", "--tgtdict"), dictionaries, strict=False):
        options += [option, str(dictionary)]
    return program("fairseq_cli.preprocess", *options)


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
    """Run fairseq-preprocess and return the number of lines of each split; `tokens` is the end of the progress bar."""
    argv = command(texts, languages, folder, workers, dictionaries, joined)
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    with tempfile.TemporaryFile() as output, progress("data-bin", tokens and 2 * tokens, quiet=quiet) as bar:
        process = subprocess.Popen(argv, env=environment, stdout=output, stderr=output, **dying_with_us())
        running = True
        while running:
            running = not ended(process)
            bar.update(min(written(folder), bar.total or sys.maxsize) - bar.n)
        output.seek(0)
        message = "\n".join(output.read().decode(errors="replace").strip().splitlines()[-15:])
    if process.returncode:
        raise UserError(f"fairseq-preprocess ended with status {process.returncode}:\n{message}")
    (folder / "preprocess.log").unlink(missing_ok=True)  # it contains times and paths
    pair = "-".join(languages)
    counts: dict[str, int] = {}
    for name in splits(texts, languages[0]):
        for language in languages:
            index = folder / f"{name}.{pair}.{language}.idx"
            if index.exists():
                counts[name] = check_same(texts / f"{name}.{language}", index)
    return counts


def ended(process: "subprocess.Popen[bytes]") -> bool:
    """Wait half a second at most and return whether the process has ended."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(0.5)
    return process.returncode is not None


def written(folder: Path) -> int:
    """Return how many bytes of .bin files there are; fairseq's processes create and remove parts meanwhile."""
    total = 0
    for file in folder.glob("*.bin"):
        with contextlib.suppress(FileNotFoundError):
            total += file.stat().st_size
    return total


def check_same(text: Path, index: Path) -> int:
    with index.open("rb") as file:
        binarised: int = HEADER.unpack(file.read(HEADER.size))[3]
    with text.open("rb") as file:
        written = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
    if binarised != written:
        raise UserError(
            f"{text} has {written} lines, but fairseq binarised {binarised}: a line holds what it splits at"
        )
    return written
