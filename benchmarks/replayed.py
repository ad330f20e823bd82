"""Steps of fairseq-train and of beam search on a GPU, run and replayed (docs/performance.md): time, memory, and
whether losses and hypotheses are equal. Beside beam search CTranslate2, if it is installed.

python benchmarks/replayed.py replayed.json              # nine minutes; rows are written one by one
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from engines import exported
from workloads import STOCK, Place, Sample, Shape, build, samples, task

from realformer_nmt.common.stages.versions import versions
from realformer_nmt.fairseq_patches.decoding.shortlist import ShortlistGenerator
from realformer_nmt.fairseq_patches.training.one_launch import VARIABLE
from realformer_nmt.protocols.command import layers

Row = dict[str, Any]
SCRIPTS = Path(sysconfig.get_path("scripts"))
PACKAGE = Path(__file__).resolve().parents[1] / "realformer_nmt"
SHORTEST, LONGEST = 20, 33  # words: six shapes
WIDTH = 512
LAST = 20  # updates that are timed, in which every shape is recorded
BEAM, BATCHES, ROUNDS = 4, 4, 3


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


def translator(family: str, shape: Shape, place: Place, batches: list[Sample]) -> Callable[[], list[list[int]]]:
    """Return a function that translates all batches, up to the length of their sources."""
    model = build(family, shape, place).eval()
    model.make_generation_fast_(need_attn=False)
    words = task(shape.vocabulary).target_dictionary

    def translate() -> list[list[int]]:
        search = ShortlistGenerator([model], words, beam_size=BEAM, max_len_a=1.0, max_len_b=0)
        answers = [beams for batch in batches for beams in search.generate([model], batch)]
        return [beams[0]["tokens"].tolist() for beams in answers]

    return translate


def tokens_per_second(translate: Callable[[], Any], written: int) -> int:
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        translate()
        seconds.append(time.perf_counter() - start)
    return round(written / statistics.median(seconds))


def decode(family: str, size: str, args: argparse.Namespace) -> Row:
    """Return tokens per second of beam search, and the share of sentences with the same words when it is replayed."""
    place = Place(torch.device("cpu"), torch.float32) if args.cpu else Place(torch.device("cuda"), torch.float16)
    shape = Shape(*layers(size), width=args.width, vocabulary=args.words)
    batches = samples(shape, place, args.tokens, BATCHES)
    translate = translator(family, shape, place, batches)
    row: Row = {"size": size, "family": family, "decoding": "tokens a second"}
    outputs = {}
    for name, variable in (("ran", "0"), ("replayed", "1")):
        os.environ[VARIABLE] = variable
        outputs[name] = translate()
        row[name] = tokens_per_second(translate, sum(map(len, outputs[name])))
    row["equal"] = statistics.mean(a == b for a, b in zip(*outputs.values(), strict=True))
    if family == "post_ln" and find_spec("ctranslate2"):
        row["ctranslate2"] = by_ctranslate2(shape, batches, place.device.type)
    return row


def by_ctranslate2(shape: Shape, batches: list[Sample], device: str) -> int | str:
    """Return its tokens per second, to hypotheses of the lengths of the sources, or its error."""
    stock = build(STOCK, shape, Place(torch.device("cpu"), torch.float32)).eval().requires_grad_(False)
    try:
        translate = exported(stock, shape, batches, BEAM, "float32" if device == "cpu" else "float16", device)
        return tokens_per_second(translate, translate())
    except (RuntimeError, ValueError) as error:
        return str(error)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--sizes", nargs="+", default=["18-18", "6-6", "60-12"])
    parser.add_argument("--families", nargs="+", default=["realformer", "pre_ln"])
    parser.add_argument("--decoding", nargs="+", default=["post_ln", "realformer"], help="families, at 6-6")
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
    for family in args.decoding:
        record["rows"].append(decode(family, "6-6", args))
        args.output.write_text(json.dumps(record) + "\n")
        print(record["rows"][-1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
