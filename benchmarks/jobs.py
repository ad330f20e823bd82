"""`translate --jobs N` against one process, in turns, on a quiet machine: wall time, and processor time of all.

python benchmarks/jobs.py run/average.pt --prepared data --jobs 2 --rounds 3 --json docs/results/jobs.json
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
from pathlib import Path
from typing import Any

from measuring import spread

from realformer_nmt.common.versions import processor, versions
from realformer_nmt.evaluation.translation_record import HYPOTHESES

RUN = [sys.executable, "-m", "realformer_nmt.cli", "translate"]


def translated(words: list[str], jobs: int, threads: str) -> dict[str, Any]:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint")
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--decoding", default="--beam 4 --max-tokens 2000", help="options of translate")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, default=Path("jobs.json"))
    args = parser.parse_args()
    words = [args.checkpoint, "--prepared", str(args.prepared), "--cpu", *shlex.split(args.decoding)]
    rounds = [[translated(words, jobs, "1") for jobs in (1, args.jobs)] for _ in range(args.rounds)]
    if len({run["sha256"] for runs in rounds for run in runs}) > 1:
        raise SystemExit("the runs do not agree: " + json.dumps(rounds))
    faster = spread([one["wall"] / several["wall"] for one, several in rounds])
    made = {"versions": versions(), "processor": processor(), "load": os.getloadavg(), "decoding": args.decoding}
    print(f"{args.jobs} jobs: {faster} times as fast as one")
    args.json.write_text(json.dumps({**made, "faster": faster._asdict(), "rounds": rounds}, indent=1) + "\n")


if __name__ == "__main__":
    main()
