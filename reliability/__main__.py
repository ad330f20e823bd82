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
    attacks_modules,
    attacks_outputs,
    attacks_records,
    attacks_swaps,
    disks,
    fuzzing,
    inputs,
    kills,
    machines,
    native_fuzzing,
    ranks,
    record,
    slurm_trials,
    soak,
    writers,
)
from reliability.trainings import FailedError, check, corpus

Figures = dict[str, Any]
FUZZING = 60.0  # seconds
KERNEL_CALLS = 3000


def kill_anywhere(data: Path, folder: Path) -> Figures:
    return kills.survive(data, folder, anywhere=13, while_writing=7, updates=80)


def refuse_writes(data: Path, folder: Path) -> Figures:
    """Check writers and trainings on faulty disks, and try root's faults only as root."""
    folder.mkdir()
    undisturbed = folder / "undisturbed"
    kills.train(data, undisturbed, disks.UPDATES)
    trained = writers.Trained.of(data, undisturbed / kills.CHECKPOINT, folder)
    faults = {**disks.FAULTS, **(disks.FAULTS_OF_ROOT if os.geteuid() == 0 else {})}
    tried: dict[str, disks.Outcome] = {}
    for name, fault in faults.items():
        for writer in (*writers.WRITERS, *(writers.TRANSLATING if fault is not disks.small_files else ())):
            tried[f"{writer}: {name}"] = disks.attempt(writer, fault, trained, folder / f"fault{len(tried)}" / "out")
    (folder / "vanishing").mkdir()
    tried["text: vanished folder"] = disks.vanish(folder / "vanishing")
    for name, outcome in tried.items():
        check(outcome.refused, f"{name}: {outcome}")
    troubles = list(disks.TROUBLES if os.geteuid() == 0 else ())
    for number, trouble in enumerate(troubles):
        disks.train_through(trouble, data, trained.checkpoint, folder / f"trouble{number}")
    names = [*tried, *(f"training: {trouble}" for trouble in troubles)]
    return {"faults": len(names), "tried": names}


def many_ranks(data: Path, folder: Path) -> Figures:
    folder.mkdir()
    figures: Figures = {}
    for number in (2, 4):
        one = ranks.alone(data, folder / f"one{number}", number, 14)
        for launcher in ranks.LAUNCHERS:
            name = f"{number} of {launcher}"
            run = folder / f"{launcher}{number}"
            figures[name] = {"largest difference from 1": ranks.together(data, run, number, 14, launcher, one)}
    for launcher in ranks.LAUNCHERS:
        whole = folder / f"{launcher}2" / ranks.LAST
        seconds = ranks.lose_one(data, folder / f"lost-{launcher}", 2, 14, launcher, whole)
        figures[f"2 of {launcher}"]["seconds from a rank's death to the job's"] = seconds
        seconds = ranks.lose_launcher(data, folder / f"orphans-{launcher}", 2, 14, launcher)
        figures[f"2 of {launcher}"]["seconds from the launcher's death to the ranks'"] = seconds
    one = ranks.alone(data, folder / "one-elastic", 4, 15)
    elastic = {"largest difference from 1": ranks.elastic(data, folder / "elastic", (4, 2, 1), one)}
    return {**figures, "4, then 2, then 1": elastic}


def two_machines(data: Path, folder: Path) -> Figures:
    if os.geteuid():
        return {"not tried": "network namespaces need root"}
    return machines.lose_machine(data, folder, 14)


def long_soak(data: Path, folder: Path) -> Figures:
    return soak.watch(data, folder, updates=2000, settled=500, slack=2.0)


def fuzz(_data: Path, _folder: Path) -> Figures:
    """Inputs tried of each reader."""
    tried = fuzzing.fuzz(FUZZING)
    return {"seconds": FUZZING, "inputs": sum(tried.values()), **tried}


def attack_kernels(_data: Path, folder: Path) -> Figures:
    return native_fuzzing.attack(folder, KERNEL_CALLS, native_fuzzing.SEED)


def bad_inputs(_data: Path, _folder: Path) -> Figures:
    return {**inputs.refused()}


def attack_files(data: Path, folder: Path) -> Figures:
    figures = attacks_files.attack(data, folder)
    return {
        **figures,
        "records": attacks_records.attack(*attacks_files.compared(data, folder / "made"), folder / "kept", 60),
    }


def swap_files(data: Path, folder: Path) -> Figures:
    return attacks_swaps.attack(*attacks_files.compared(data, folder / "made", seeds=(1, 2)), folder / "swapped")


TRIALS: dict[str, Callable[[Path, Path], Figures]] = {
    "kills": kill_anywhere,
    "disks": refuse_writes,
    "ranks": many_ranks,
    "machines": two_machines,
    "slurm": slurm_trials.survive,
    "soak": long_soak,
    "inputs": bad_inputs,
    "outputs": attacks_outputs.attack,
    "fuzzing": fuzz,
    "kernels": attack_kernels,
    "data-bins": attacks_databins.attack,
    "files": attack_files,
    "swaps": swap_files,
    "checkpoints": attacks_checkpoints.attack,
    "modules": attacks_modules.attack,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m reliability", description=__doc__)
    parser.add_argument("--folder", type=Path, help="to work in, and to keep (a temporary one)")
    parser.add_argument("--only", nargs="+", choices=TRIALS, default=list(TRIALS), help="what is tried (all)")
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
