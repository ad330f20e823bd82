"""Steps of fairseq-train on a GPU, run and replayed (docs/performance.md): time, memory, and whether losses are equal.

python benchmarks/replayed.py replayed.json              # eight minutes; rows are written one by one
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from realformer_nmt.common.stages.versions import versions
from realformer_nmt.fairseq_patches.training.one_launch import VARIABLE

Row = dict[str, Any]
SCRIPTS = Path(sysconfig.get_path("scripts"))
PACKAGE = Path(__file__).resolve().parents[1] / "realformer_nmt"
SHORTEST, LONGEST = 20, 33  # words: six shapes
WIDTH = 512
LAST = 20  # updates that are timed, in which every shape is recorded


def write_text(folder: Path, pairs: int, words: int) -> None:
    """Write pairs of random words; a target is its source in reverse, so that there is something to learn."""
    random = np.random.default_rng(1)
    sentences = [random.integers(0, words, random.integers(SHORTEST, LONGEST)) for _ in range(pairs)]
    for split, some in (("train", sentences), ("valid", sentences[:100])):
        for language, step in (("src", 1), ("tgt", -1)):
            lines = [" ".join(f"w{word}" for word in sentence[::step]) + "\n" for sentence in some]
            (folder / f"{split}.{language}").write_text("".join(lines))


def prepare(folder: Path, pairs: int, words: int) -> Path:
    write_text(folder, pairs, words)
    splits = (f"--{split}pref={folder / split}" for split in ("train", "valid"))
    languages = ("--source-lang=src", "--target-lang=tgt", "--joined-dictionary", f"--destdir={folder / 'data'}")
    subprocess.run([str(SCRIPTS / "fairseq-preprocess"), *splits, *languages], check=True, capture_output=True)
    return folder / "data"


def train(data: Path, family: str, size: str, precision: list[str], replayed: bool, args: argparse.Namespace) -> Row:
    """Return time, loss and share of replayed steps of a training's updates."""
    encoder_layers, decoder_layers = size.split("-")
    shape = ["--encoder-layers", encoder_layers, "--decoder-layers", decoder_layers]
    for side in ("encoder", "decoder"):
        shape += [f"--{side}-embed-dim", str(args.width), f"--{side}-ffn-embed-dim", str(4 * args.width)]
    batches = ["--max-tokens", str(args.tokens), "--num-batch-buckets", "17", "--num-workers", "2"]
    loss = ["--criterion", "label_smoothed_cross_entropy_fused", "--label-smoothing", "0.1", "--dropout", "0.1"]
    optimizer = ["--optimizer", "radam", "--lr", "0.0005", "--max-update", str(args.updates), "--seed", "1"]
    output = ["--log-format", "json", "--log-interval", "1", "--no-save", "--disable-validation"]
    command = [str(SCRIPTS / "fairseq-train"), str(data), "--user-dir", str(PACKAGE), "--arch", family, *shape]
    command += [*batches, *loss, *optimizer, *output, "--share-all-embeddings", *precision]
    environment = {**os.environ, VARIABLE: str(int(replayed))}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    updates = [json.loads(line[line.index("{") :]) for line in done.stdout.splitlines() if '"train_wall"' in line]
    if done.returncode or not updates:
        return {"error": (done.stderr or done.stdout).strip().splitlines()[-1]}
    seconds = [1 / float(update["ups"]) for update in updates[-LAST:] if float(update.get("ups", 0))]
    return {
        "ms": round(1000 * statistics.median(seconds), 1),
        "replayed": float(updates[-1].get("replayed", 0)),
        "gb_free": float(updates[-1].get("gb_free", 0)),
        "losses": [float(update["loss"]) for update in updates if "loss" in update],
    }


def rows(data: Path, args: argparse.Namespace) -> Iterator[Row]:
    precision = ["--cpu"] if args.cpu else ["--bf16"]
    for size in args.sizes:
        for family in args.families:
            ran, replayed = (train(data, family, size, precision, each, args) for each in (False, True))
            equal = [a == b for a, b in zip(ran.get("losses", []), replayed.get("losses", []), strict=False)]
            first = equal.index(False) + 1 if False in equal else None
            yield {"size": size, "family": family, "ran": ran, "replayed": replayed, "first_update_that_differs": first}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--sizes", nargs="+", default=["18-18", "6-6", "60-12"])
    parser.add_argument("--families", nargs="+", default=["realformer", "pre_ln"])
    for name, default in (("tokens", 8192), ("updates", 60), ("pairs", 20_000), ("words", 30_000), ("width", WIDTH)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--cpu", action="store_true", help="try the script itself: nothing is replayed on a CPU")
    args = parser.parse_args()
    if not args.cpu and not torch.cuda.is_available():
        print("replayed.py: there is no GPU here", file=sys.stderr)
        return 1
    device = "CPU" if args.cpu else torch.cuda.get_device_name()
    record: Row = {"device": device, "versions": versions(), "tokens": args.tokens, "width": args.width, "rows": []}
    with tempfile.TemporaryDirectory() as folder:
        data = prepare(Path(folder), args.pairs, args.words)
        for row in rows(data, args):
            record["rows"].append(row)
            args.output.write_text(json.dumps(record) + "\n")
            print({name: value for name, value in row.items() if name not in ("ran", "replayed")})
            print({name: row[name].get("ms", row[name].get("error")) for name in ("ran", "replayed")})
    return 0


if __name__ == "__main__":
    sys.exit(main())
