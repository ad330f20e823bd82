"""`make reliability`: what is promised about survival, tried for real; the record goes to docs/results/reliability.md.

python -m reliability [--folder DIR] [--only TRIAL ...]
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from realformer_nmt import plugin
from realformer_nmt.common.stages.versions import commit, processor, versions
from reliability import (
    attacks_checkpoints,
    attacks_databins,
    attacks_files,
    attacks_outputs,
    disks,
    fuzzing,
    kills,
    native_fuzzing,
    ranks,
    record,
    slurm_trials,
    soak,
)
from reliability.trainings import FailedError, check, corpus

Figures = dict[str, Any]
FUZZING = 60.0  # seconds


def kill_anywhere(data: Path, folder: Path) -> Figures:
    return kills.survive(data, folder, anywhere=7, while_writing=5, updates=80)


def refuse_writes(data: Path, folder: Path) -> Figures:
    """Check commands and trainings on faulty disks, and try root's faults only as root."""
    folder.mkdir()
    kills.train(data, folder / "undisturbed", disks.UPDATES)
    checkpoint = folder / "undisturbed" / kills.CHECKPOINT
    is_root = os.geteuid() == 0
    names = []
    for fault_name, fault in {**disks.FAULTS, **(disks.FAULTS_OF_ROOT if is_root else {})}.items():
        for writer in (*disks.WRITERS, *(disks.TRANSLATING if fault is not disks.small_files else ())):
            names.append(f"{writer}: {fault_name}")
            outcome = disks.attempt(writer, fault, data, checkpoint, folder / f"fault{len(names)}" / "out")
            check(outcome.refused, f"{names[-1]}: {outcome}")
    for trouble in disks.TROUBLES if is_root else ():
        names.append(f"training: {trouble}")
        disks.train_through(trouble, data, checkpoint, folder / f"trouble{len(names)}")
    return {"faults": len(names), "tried": names}


def two_ranks(data: Path, folder: Path) -> Figures:
    folder.mkdir()
    one, updates = ranks.alone(data, folder / "one", 14), 14
    figures: Figures = {}
    for launcher in ranks.LAUNCHERS:
        whole, lost = folder / launcher, folder / f"lost-{launcher}"
        figures[f"2 of {launcher}"] = {
            "largest difference from 1": ranks.together(data, whole, updates, launcher, one),
            "seconds from a rank's death to the job's": ranks.lose_one(
                data, lost, updates, launcher, whole / ranks.LAST
            ),
            "seconds from the launcher's death to the ranks'": ranks.lose_launcher(
                data, folder / f"orphans-{launcher}", updates, launcher
            ),
        }
    elastic = {"largest difference from 1": ranks.elastic(data, folder / "elastic", updates, one)}
    silence = ranks.outlive_silence(data, folder / "silent", updates)
    return {
        **figures,
        "2, then 1": elastic,
        f"seconds to the end, if a rank may be silent for {ranks.SILENCE}": silence,
    }


def long_soak(data: Path, folder: Path) -> Figures:
    return soak.watch(data, folder, updates=1200, settled=400, slack=2.0)


def fuzz(_data: Path, _folder: Path) -> Figures:
    """Count the inputs that each reader was tried with."""
    tried = fuzzing.fuzz(FUZZING)
    return {"seconds": FUZZING, "inputs": sum(tried.values()), **tried}


def attack_kernels(_data: Path, folder: Path) -> Figures:
    return native_fuzzing.attack(folder, native_fuzzing.CALLS)


TRIALS: dict[str, Callable[[Path, Path], Figures]] = {  # one per promise of docs/reliability.md and SECURITY.md
    "kills": kill_anywhere,  # a training continues after any kill; a checkpoint is complete or not there
    "disks": refuse_writes,  # a full disk, a read-only disk or a missing folder is an error, and no file is torn
    "ranks": two_ranks,  # ranks train as one run, or all end; their number may change
    "slurm": slurm_trials.survive,  # each row of the table of events
    "soak": long_soak,  # memory and open files do not grow
    "outputs": attacks_outputs.attack,  # a command overwrites only its own files
    "fuzzing": fuzz,  # a damaged file is an error of one line, whichever reader gets it
    "kernels": attack_kernels,  # the kernels in C stay within their tensors
    "data-bins": attacks_databins.attack,  # a data-bin is data
    "files": attacks_files.attack,  # grids, protocols and manifests run no code and write only where they should
    "checkpoints": attacks_checkpoints.attack,  # a checkpoint runs no code, chooses no file, and a flip is noticed
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m reliability", description=__doc__)
    parser.add_argument("--folder", type=Path, help="to work in, and to keep (a temporary one)")
    every = [name for name in TRIALS if name != "slurm"]
    parser.add_argument("--only", nargs="+", choices=TRIALS, default=every, help="what is tried (all but slurm)")
    args = parser.parse_args()
    plugin.register()  # as fairseq's commands do: some trials call what those call
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or Path(temporary)
        data = corpus(folder / "corpus")
        for name in args.only:
            begun = time.monotonic()
            try:
                figures = TRIALS[name](data, folder / name)
            except FailedError as error:
                print(f"{name}: {error}", file=sys.stderr)
                return 1
            seconds = round(time.monotonic() - begun)
            record.note(name, {**figures, "took": f"{seconds} s"}, about())
            print(f"{name}: {json.dumps(figures)}, in {seconds} s", flush=True)
    return 0


def about() -> Figures:
    return {
        "when": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "processor": f"{processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.release()}",
        "versions": versions(),
        "commit": commit(),
    }


if __name__ == "__main__":
    sys.exit(main())
