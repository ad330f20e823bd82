"""`realformer-nmt prepare`: from the archives of a corpus, or one's own files, to fairseq's data-bin.

FOLDER/data-bin, FOLDER/subwords and, for scoring, the untouched FOLDER/test.raw.en ... stay; what lies between is
removed as soon as it is not needed. FOLDER/prepare.json is written last.
"""

import argparse
import hashlib
import importlib.metadata
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Any

from realformer_nmt import records
from realformer_nmt.corpora import sources
from realformer_nmt.corpora.binarise import binarise
from realformer_nmt.corpora.fetch import fetch_texts
from realformer_nmt.corpora.pieces import write_pieces
from realformer_nmt.corpora.sources import Job
from realformer_nmt.corpora.stages import Stages, write_json
from realformer_nmt.corpora.subwords import DICTIONARY, METHODS, Texts
from realformer_nmt.corpora.texts import SPLITS, write_texts
from realformer_nmt.errors import UserError
from realformer_nmt.lock import alone

PACKAGES = (
    "realformer-nmt",
    "fairseq-fixed",
    "fairseq",
    "numpy",
    "regex",
    "sacremoses",
    "sentencepiece",
    "subword-nmt",
)
EXAMPLES = """examples:
  realformer-nmt prepare wmt14_en_de --folder data/wmt14_en_de --archives ~/downloads
  realformer-nmt prepare wmt14_en_de --folder data/papers --subwords moses_bpe
  realformer-nmt prepare --source en --target de --train a.en a.de --valid v.en v.de --test t.en t.de --folder data/own
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "From the archives of a corpus, or files of your own, to a data-bin for fairseq-train. Stages that are done "
        "are skipped, so after an interruption the same command goes on."
    )
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--folder", type=Path, required=True, help="where data-bin/, subwords/ and prepare.json are made"
    )
    parser.add_argument("--workers", type=int, default=cores(), metavar="N", help="processes (all cores)")
    parser.add_argument("--keep", action="store_true", help="do not remove extracted, cleaned and encoded texts")
    parser.add_argument("--quiet", action="store_true", help="no progress bars")
    sources.add_arguments(parser)


def cores() -> int:
    """Those that this process may use: on a cluster fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def run(args: argparse.Namespace) -> int:
    if args.workers < 1:
        raise UserError(f"--workers {args.workers}: allowed is 1 or more")
    job = sources.job(args)
    try:
        with alone(args.folder / ".lock", "is preparing"):
            prepare(job, args.folder, args.workers, args.keep, args.quiet)
    except OSError as error:
        raise UserError(f"{error.filename or args.folder}: {error.strerror or error}") from error
    print(args.folder / "prepare.json")
    return 0


def prepare(job: Job, folder: Path, workers: int, keep: bool, quiet: bool) -> None:
    note = folder / "prepare.json"
    stages = Stages(folder, job.settings(), note)
    plan, method = job.plan, METHODS[job.subwords]
    texts, subwords, pieces = (folder / name for name in ("text", "subwords", "pieces"))

    def clean(out: Path) -> dict[str, Any]:
        members = fetch_texts(job.corpus, folder, job.archives, quiet=quiet) if job.corpus else {}
        found = write_texts(job.parts(members), plan, workers, out, quiet)
        job.demand_pairs(found["parts"])
        return found

    def learn(out: Path) -> dict[str, Any]:
        train = [texts / f"train.{language}" for language in plan.languages]
        pairs = sum(part["kept"] for part in cleaned["parts"] if part["split"] == "train")
        method.learn(Texts(train[0], train[1], pairs, quiet), out, job.vocabulary, workers)
        return {}

    def binary(out: Path) -> dict[str, Any]:
        dictionary = subwords / DICTIONARY if DICTIONARY in method.files else None
        joined = dictionary is not None or plan.protocol.joined_dictionary
        tokens = sum(sum(split["tokens"]) + 2 * split["pairs"] for split in encoded["pieces"].values())
        return {"lines": binarise(pieces, plan.languages, out, workers, dictionary, joined, tokens, quiet)}

    cleaned = stages.run("text", clean)
    if not keep:
        stages.remove("texts")  # the extracted ones
    stages.run("subwords", learn, lasting=True)
    encoded = stages.run("pieces", lambda out: write_pieces(texts, subwords, job.subwords, plan, workers, out, quiet))
    if not keep:
        stages.remove("text")
    stages.run("data-bin", binary, lasting=True)
    if note.exists():
        demand_whole(folder, note)
    else:
        publish(pieces, folder)
        write_json(note, report(job, folder, stages, workers))
    if not keep:
        stages.remove("pieces")


def publish(pieces: Path, folder: Path) -> None:
    """The raw texts, beside the data-bin."""
    for raw in sorted(pieces.glob("*.raw.*")):
        partial = folder / f"{raw.name}.partial"
        shutil.copyfile(raw, partial)
        partial.replace(folder / raw.name)


def demand_whole(folder: Path, note: Path) -> None:
    """By sizes: to hash the data-bin of WMT'14 En-Fr anew takes seconds, and a damaged file would get a fresh hash."""
    for name, size in records.read(note, "remove it to write it again").get("bytes", {}).items():
        path = folder / name
        found = path.stat().st_size if path.is_file() else 0
        if found != size:
            raise UserError(
                f"{path} has {found:,} bytes, and {note} says {size:,}: to make all again, remove {folder / 'stages'}"
            )


def report(job: Job, folder: Path, stages: Stages, workers: int) -> dict[str, Any]:
    source, target = job.plan.languages
    folders = [path for name in ("data-bin", "subwords") for path in sorted((folder / name).iterdir())]
    raw = [folder / f"{split}.raw.{language}" for split in SPLITS[1:] for language in (source, target)]
    made = stages.reports
    return {
        "corpus": job.name,
        "published": job.corpus.published if job.corpus else None,
        "source": source,
        "target": target,
        "subwords": job.subwords,
        "vocabulary": job.vocabulary,
        "pairs": made["data-bin"]["lines"],
        "parts": made["text"]["parts"],
        "pieces": made["pieces"]["pieces"],
        "settings": job.settings(),
        "bytes": {str(path.relative_to(folder)): path.stat().st_size for path in (*folders, *raw)},
        "sha256": {str(path.relative_to(folder)): sha256(path) for path in (*folders, *raw)},
        "seconds": {name: stage["seconds"] for name, stage in made.items()},
        "workers": workers,
        "versions": {"python": platform.python_version(), **versions()},
    }


def versions() -> dict[str, str]:
    installed = {
        distribution.metadata["Name"]: distribution.version for distribution in importlib.metadata.distributions()
    }
    return {name: installed[name] for name in PACKAGES if name in installed}


def sha256(path: Path) -> str:
    hashed = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            hashed.update(chunk)
    return hashed.hexdigest()
