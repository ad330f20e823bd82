"""recipes/wmt14_en_de/slurm.sbatch on a real SLURM: two tasks on one node, which train as one by gloo."""

import hashlib
import json
import shlex
import sys
from pathlib import Path

import numpy as np

from reliability.cluster import Cluster, wait_until
from reliability.trainings import LIMIT, REPOSITORY, check

SYLLABLES = ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "ru")
PAIRS = {"train": 300, "valid": 30, "test": 30}
MANIFEST = """\
source = "en"
target = "de"
invalid_utf8 = "refuse"

[protocol]
normalise_punctuation = true
remove_nonprinting = true
normalise_test = false
aggressive_hyphens = false
lowercase = false
bpe = 60
joined_dictionary = true

[protocol.lengths]
min = 1
max = 250
ratio = 9
counted = "before_bpe"
validation = false
"""
SPLIT = """
[[{split}]]
format = "text"
source = "{split}.en:{split}.en"
target = "{split}.de:{split}.de"
"""
ARCHIVE = """
[[archives."{name}"]]
urls = ["https://localhost/{name}"]
bytes = {bytes}
sha256 = "{sha256}"
"""
TINY = "--layers 1 --name run --workers 1 --max-tokens 300 --tokens-a-step 600 --epochs 2 --average 2"
SIZES = ("encoder-embed-dim", "encoder-ffn-embed-dim", "decoder-embed-dim", "decoder-ffn-embed-dim")
FLAGS = [word for size in SIZES for word in (f"--{size}", "32")] + ["--warmup-updates", "4", "--lr", "0.01"]


def train_in_two_tasks(world: Cluster, _data: Path, folder: Path) -> dict[str, object]:
    write_corpus(folder)
    write_program(folder / "bin/realformer-nmt")
    world.environment["PATH"] = f"{folder / 'bin'}:{world.environment['PATH']}"
    options = ["--corpus", str(folder / "corpus.toml"), "--archives", str(folder / "archives"), *TINY.split()]
    options += ["--folder", str(folder / "out")]
    here = ["--nodes=1", "--ntasks-per-node=2", "--cpus-per-task=1", "--gpus-per-node=0", "--mem=7000", "--parsable"]
    log, script = folder / "log", str(REPOSITORY / "recipes/wmt14_en_de/slurm.sbatch")
    job = world.call(
        "sbatch", *here, f"--output={log}", f"--chdir={REPOSITORY}", script, *options, "--", *FLAGS
    ).strip()
    check(job.isdigit(), job)
    wait_until(lambda: not world.call("squeue", "--noheader", f"--jobs={job}").strip(), "the job runs", 2 * LIMIT)
    run = folder / "out/run"
    check((run / "run.json").exists(), log.read_text()[-3000:])
    train = json.loads((run / "train.json").read_text())
    check(train["machines"] == 2, f"trained by {train['machines']} tasks")
    return {"outcome": "trained, translated and scored", "tasks": 2, "updates": train["updates"]}


def write_corpus(folder: Path) -> None:
    """Write a corpus whose target has the words of its source, with a manifest of its files and their hashes."""
    chance = np.random.default_rng(1)
    (folder / "archives").mkdir(parents=True)
    manifest = MANIFEST
    for split, pairs in PAIRS.items():
        text = "".join(f"{' '.join(map(''.join, chance.choice(SYLLABLES, (6, 2))))}\n" for _ in range(pairs)).encode()
        manifest += SPLIT.format(split=split)
        for name in (f"{split}.en", f"{split}.de"):
            (folder / "archives" / name).write_bytes(text)
            manifest += ARCHIVE.format(name=name, bytes=len(text), sha256=hashlib.sha256(text).hexdigest())
    (folder / "corpus.toml").write_text(manifest)


def write_program(program: Path) -> None:
    program.parent.mkdir()
    words = shlex.join([sys.executable, "-m", "realformer_nmt.cli"])
    program.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    program.chmod(0o755)
