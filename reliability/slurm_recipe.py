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
    """Write a corpus of words and the same words backwards, with a manifest that names its files and their hashes."""
    chance = np.random.default_rng(1)
    (folder / "archives").mkdir(parents=True)
    parts, archives = [], []
    for split, pairs in PAIRS.items():
        sentences = [["".join(chance.choice(SYLLABLES, 2)) for _ in range(chance.integers(3, 9))] for _ in range(pairs)]
        lines = [f"[[{split}]]", 'format = "text"']
        for side, language, step in (("source", "en", 1), ("target", "de", -1)):
            text = "".join(f"{' '.join(words[::step])}\n" for words in sentences).encode()
            name, digest = f"{split}.{language}", hashlib.sha256(text).hexdigest()
            (folder / "archives" / name).write_bytes(text)
            lines.append(f'{side} = "{name}:{name}"')
            about = (f'urls = ["https://localhost/{name}"]', f"bytes = {len(text)}", f'sha256 = "{digest}"')
            archives.append("\n".join([f'[[archives."{name}"]]', *about, ""]))
        parts.append("\n".join([*lines, ""]))
    (folder / "corpus.toml").write_text("\n".join([MANIFEST, *parts, *archives]))


def write_program(program: Path) -> None:
    program.parent.mkdir()
    words = shlex.join([sys.executable, "-m", "realformer_nmt.cli"])
    program.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    program.chmod(0o755)
