"""Modules of the current folder: a download may hold a torch.py, and none of our commands runs it."""

import os
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from realformer_nmt.protocols.command import TRAINER, runnable
from reliability.trainings import LIMIT, TINY, check, environment

MODULES = ("fairseq", "fairseq_cli", "torch", "numpy", "realformer_nmt", "runpy", "json", "multiprocessing")
USER_DIR = Path(__file__).resolve().parents[1] / "realformer_nmt"


def attack(data: Path, folder: Path) -> dict[str, Any]:
    """Our commands, and what they start, in a folder of modules that leave a file behind."""
    folder.mkdir(parents=True)
    for name in MODULES:
        (folder / f"{name}.py").write_text(f"open({str(folder / 'pwned')!r}, 'w')\nraise SystemExit(3)\n")
    executable = str(Path(sysconfig.get_path("scripts"), "realformer-nmt"))
    texts = [str(data.parent / f"{split}.{side}") for split in ("train", "valid") for side in ("src", "tgt")]
    languages = ["--source", "src", "--target", "tgt", "--train", *texts[:2], "--valid", *texts[2:]]
    trained = "--arch realformer --layers 1 --gpus 0 --protocol small --max-tokens 200 --tokens-a-step 200 --updates 2"
    ending = ["--average", "1", "--", "--warmup-updates", "1"]
    fairseq = [str(data), "--user-dir", str(USER_DIR), "--cpu", *TINY.split(), "--max-update", "25", "--no-save"]
    commands = {
        "prepare": [executable, "prepare", *languages, "--vocabulary", "275", "--folder", "made", "--workers", "2"],
        "train": [executable, "train", "--data", str(data), "--folder", "run", *trained.split(), *ending],
        "torchrun": runnable(["torchrun", "--nproc-per-node", "2", "--standalone", "-m", TRAINER, *fairseq]),
    }
    for name, words in commands.items():
        done = subprocess.run(
            words, cwd=folder, env=environment(), capture_output=True, text=True, timeout=LIMIT, check=False
        )
        check(not (folder / "pwned").exists(), f"{name} ran a module of the current folder")
        check(done.returncode == 0, f"{name}: {done.stderr[-2000:]}")
    return {"modules": len(MODULES), "commands": len(commands), "python path": bool(os.environ.get("PYTHONPATH"))}
