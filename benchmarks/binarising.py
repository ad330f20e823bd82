"""Processor time and peak memory of prepare's data-bin for growing corpora, beside fairseq-preprocess.

    python benchmarks/binarising.py --json docs/results/binarising.json      # 0.5, 1, 2 and 4 million pairs
    python benchmarks/binarising.py --sizes 50000 100000 --before 50000

A corpus is the subwords of 100,000 generated pairs, repeated, or the first of them. Each run is a process of its own,
with one worker.
"""

import argparse
import filecmp
import itertools
import json
import multiprocessing
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from corpora import EN_FR, LANGUAGES, encode, generate

from realformer_nmt.common.stages.versions import installed, processor
from realformer_nmt.corpora.preparing.binarise import binarise
from realformer_nmt.corpora.preparing.prepare import PACKAGES
from realformer_nmt.corpora.subwords.subword_methods import DICTIONARY
from realformer_nmt.corpora.subwords.subwords import learn_model

BASE = 100_000  # pairs that are repeated
METHOD = "sentencepiece"
Work = Callable[[Path, Path, Path], None]  # (texts, dictionary, folder of the data-bin)


class Run(NamedTuple):
    """A row of the record."""

    what: str
    pairs: int
    seconds: float  # of processor time, with the imports
    megabytes: float  # at most, in memory
    core_hours_for_en_fr: float


def of_prepare(texts: Path, dictionary: Path, folder: Path) -> None:
    binarise(texts, LANGUAGES, folder, 1, [dictionary], True, quiet=True)


def of_fairseq(texts: Path, dictionary: Path, folder: Path) -> None:
    from fairseq_cli import preprocess  # here, as its memory and time are part of the measurement

    sides = [word for flag, language in zip("st", LANGUAGES, strict=True) for word in (f"-{flag}", language)]
    options = ["--trainpref", texts / "train", "--joined-dictionary", "--srcdict", dictionary, "--destdir", folder]
    sys.argv = ["fairseq-preprocess", *sides, *map(str, options)]
    preprocess.cli_main()


def measured(work: Work, texts: Path, dictionary: Path, folder: Path) -> tuple[float, float]:
    """Return the processor seconds of this process, and the megabytes that it had in memory at most."""
    work(texts, dictionary, folder)
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return time.process_time(), int(peak.split()[1]) / 1024


def repeat(text: Path, number: int, file: Path) -> None:
    """Write so many lines of a text, which begins again where it ends."""
    with text.open("rb") as lines, file.open("wb") as repeated:
        repeated.writelines(itertools.islice(itertools.cycle(lines), number))


def run(what: str, work: Work, pairs: int, folder: Path) -> Run:
    texts, data_bin = folder / "texts", folder / what
    texts.mkdir(exist_ok=True)
    for split in ("train", "valid", "test"):
        for language in LANGUAGES:
            repeat(folder / f"train.{language}", pairs if split == "train" else 0, texts / f"{split}.{language}")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        seconds, peak = pool.submit(measured, work, texts, folder / DICTIONARY, data_bin).result()
    hours = seconds / pairs * EN_FR / 3600
    print(
        f"{what:20} {pairs:>9,} pairs {seconds:>8.1f} s {peak:>6.0f} MB, {hours:.2f} core hours for En-Fr", flush=True
    )
    return Run(what, pairs, round(seconds, 1), round(peak), round(hours, 2))


def check_same(actual: Path, expected: Path) -> None:
    _, different, missing = filecmp.cmpfiles(actual, expected, [file.name for file in actual.iterdir()], shallow=False)
    if different or missing:
        sys.exit(f"not as fairseq-preprocess writes them: {', '.join(different + missing)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[500_000, 1_000_000, 2_000_000, 4_000_000])
    parser.add_argument("--before", type=int, nargs="+", default=[500_000], help="pairs for fairseq-preprocess")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = generate(folder, BASE, 1)
        learn_model(METHOD, texts._replace(quiet=True), folder, 32_000, 1)
        encode(texts, METHOD, folder, folder)
        runs = []
        for pairs in args.sizes:
            shutil.rmtree(folder / "prepare", ignore_errors=True)
            runs.append(run("prepare", of_prepare, pairs, folder))
            if pairs in args.before:
                runs.append(run("fairseq-preprocess", of_fairseq, pairs, folder))
                check_same(folder / "prepare", folder / "fairseq-preprocess")
                shutil.rmtree(folder / "fairseq-preprocess")
    if args.json:
        machine = {"processor": processor(), "cores": os.cpu_count(), "load": os.getloadavg()[0]}
        environment = {"python": platform.python_version(), **installed(*PACKAGES), **machine}
        report = {"environment": environment, "rows": [each._asdict() for each in runs]}
        args.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
