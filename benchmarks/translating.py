"""`realformer-nmt translate` in other ways on trained models: in several processes, or in other precisions.

python benchmarks/translating.py run/average.pt --prepared data --jobs 2 --rounds 3 --json docs/results/jobs.json
python benchmarks/translating.py demo --prepared demo/data --references demo/data/test.raw.de

A checkpoint is translated by one process and by several, in turns, on a quiet machine: wall time, and processor time of
all. The models of a comparison are translated in each precision and scored anew: what does it cost in BLEU?
"""

import argparse
import hashlib
import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sacrebleu
from sacrebleu.significance import PairedTest
from tabulate import tabulate
from timing import spread

from realformer_nmt.common.stages.versions import processor, versions
from realformer_nmt.evaluation.translating.translate import EXACT, PRECISIONS
from realformer_nmt.evaluation.translating.translation_record import HYPOTHESES

RUN = [sys.executable, "-m", "realformer_nmt.cli", "translate"]


def timed(words: list[str], jobs: int, threads: str) -> dict[str, Any]:
    """Seconds, and what came out; one process has one thread too, so that N cores stand against one."""
    with tempfile.TemporaryDirectory() as folder:
        start, before = time.monotonic(), _processor_time()
        environment = {**os.environ, "OMP_NUM_THREADS": threads}
        output = Path(folder, "out")
        subprocess.run([*RUN, *words, "--jobs", str(jobs), "--output", str(output)], env=environment, check=True)
        wall, busy = time.monotonic() - start, _processor_time() - before
        digest = hashlib.sha256((output / HYPOTHESES).read_bytes()).hexdigest()
        return {"jobs": jobs, "wall": round(wall, 2), "processor": round(busy, 2), "sha256": digest}


def _processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


SAMPLES = 1000


def measure(cell: Path, prepared: Path, folder: Path, decoding: list[str], references: list[str]) -> Iterator[Any]:
    """A row for each precision: the score, the difference to the exact one and how far it may be by chance."""
    texts = {name: translated(cell, prepared, folder / cell.name / name, name, decoding) for name in PRECISIONS}
    systems: list[tuple[str, Any]] = [
        (name, texts[name]) for name in (EXACT, *(name for name in PRECISIONS if name != EXACT))
    ]
    paired: Any = PairedTest(systems, {"BLEU": sacrebleu.BLEU()}, [references], test_type="bs", n_samples=SAMPLES)
    results = paired()[1]["BLEU"]
    for (name, lines), result in zip(systems, results, strict=True):
        same = sum(one == other for one, other in zip(lines, texts[EXACT], strict=True))
        yield {
            "cell": cell.name,
            "precision": name,
            "bleu": round(result.score, 2),
            "interval": round(result.ci, 2),
            "against fp32": round(result.score - results[0].score, 2) + 0.0,  # no minus before zero
            "p": None if result.p_value is None else round(result.p_value, 4),
            "same lines": same,
            "lines": len(lines),
        }


def translated(cell: Path, prepared: Path, folder: Path, precision: str, decoding: list[str]) -> list[str]:
    words = [str(cell / "average.pt"), "--prepared", str(prepared), "--cpu", *decoding]
    subprocess.run([*RUN, *words, "--precision", precision, "--output", str(folder)], check=True)
    return (folder / HYPOTHESES).read_text(encoding="utf-8").split("\n")[:-1]


def against_one_process(args: argparse.Namespace) -> Any:
    words = [str(args.model), "--prepared", str(args.prepared), "--cpu", *shlex.split(args.decoding)]
    rounds = [[timed(words, jobs, "1") for jobs in (1, args.jobs)] for _ in range(args.rounds)]
    if len({run["sha256"] for runs in rounds for run in runs}) > 1:
        raise SystemExit("the runs do not agree: " + json.dumps(rounds))
    faster = spread([one["wall"] / several["wall"] for one, several in rounds])
    print(f"{args.jobs} jobs: {faster} times as fast as one")
    return {"load": os.getloadavg(), "faster": faster._asdict(), "rounds": rounds}


def against_fp32(args: argparse.Namespace) -> Any:
    references = args.references.read_text(encoding="utf-8").split("\n")[:-1]
    cells = sorted(file.parent for file in args.model.glob("cells/*/average.pt"))
    decoding = shlex.split(args.decoding)
    rows = [row for cell in cells for row in measure(cell, args.prepared, args.work, decoding, references)]
    print(tabulate(rows, headers="keys"))
    return {"samples": SAMPLES, "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a checkpoint, or the folder of `realformer-nmt compare`")
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--decoding", help="options of translate (--beam 4; of jobs --max-tokens 2000, too)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--references", type=Path, help="raw text of the test set: compare precisions")
    parser.add_argument("--work", type=Path, default=Path("precisions"), help="folder for these translations")
    parser.add_argument("--json", type=Path, default=Path("translating.json"))
    args = parser.parse_args()
    args.decoding = args.decoding or ("--beam 4" if args.references else "--beam 4 --max-tokens 2000")
    figures = against_fp32(args) if args.references else against_one_process(args)
    record = {"versions": versions(), "processor": processor(), "decoding": args.decoding, **figures}
    args.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
