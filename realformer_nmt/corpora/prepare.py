"""`realformer-nmt prepare`: from the archives of a corpus, or the user's own files, to fairseq's data-bin.

FOLDER/data-bin, FOLDER/subwords and, for scoring, the raw texts FOLDER/test.raw.en ... remain; intermediate files are
removed as soon as they are not needed. FOLDER/prepare.json is written last.
"""

import importlib.metadata
import platform
import shutil
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from realformer_nmt.common import outputs
from realformer_nmt.common.checksummed_json import write as write_sealed
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.folder_lock import alone
from realformer_nmt.corpora import prepare_job
from realformer_nmt.corpora.binarise import binarise
from realformer_nmt.corpora.clean_splits import splits, write_texts
from realformer_nmt.corpora.encode_subwords import write_pieces
from realformer_nmt.corpora.extract import STATE
from realformer_nmt.corpora.fetch import fetch_texts
from realformer_nmt.corpora.prepare_job import PrepareJob
from realformer_nmt.corpora.prepare_request import PrepareRequest
from realformer_nmt.corpora.stages import Stages
from realformer_nmt.corpora.subword_methods import DICTIONARY, METHODS
from realformer_nmt.corpora.subwords import TrainingTexts, learn_model
from realformer_nmt.data_bins.prepare_record import NAME, describe, verify

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
REQUEST = PrepareRequest


def run(request: PrepareRequest) -> int:
    if request.verify:
        print(f"{request.folder}: {verify(request.folder)} files are as they were prepared")
        return 0
    job = prepare_job.job(request)
    check_folder(job, request.folder)
    try:
        with alone(request.folder / ".lock", "is preparing"):
            prepare(job, request.folder, request.workers, request.keep, request.quiet)
    except OSError as error:
        raise UserError(f"{error.filename or request.folder}: {error.strerror or error}") from error
    print(request.folder / NAME)
    return 0


def check_folder(job: PrepareJob, folder: Path) -> None:
    """Raise if files that `prepare` did not write would be overwritten; a folder that Stages has begun may go on."""
    outputs.check_folder(folder, "prepare")
    note = folder / NAME
    outputs.check_record(note, "prepare")
    if outputs.holds_record(note, "prepare") or (folder / "stages" / "settings.json").is_file():
        return
    outputs_of_stages = [folder / name for name in ("stages", "text", "subwords", "pieces", "data-bin")]
    extracted = [path for path in folder.glob("texts/*") if not (path / STATE).is_file()] if job.corpus else []
    for path in (*outputs_of_stages, *extracted, *folder.glob("*.raw.*")):
        outputs.check_free(path, "prepare")


def prepare(job: PrepareJob, folder: Path, workers: int, keep: bool, quiet: bool) -> None:
    note = folder / NAME
    stages = Stages(folder, job.settings(), job.inputs(), note)
    plan, method = job.plan, METHODS[job.subwords]
    texts, subwords, pieces = (folder / name for name in ("text", "subwords", "pieces"))

    def clean(out: Path) -> dict[str, Any]:
        members = fetch_texts(job.corpus, folder, job.archives, quiet=quiet) if job.corpus else {}
        counts = write_texts(job.parts(members), plan, workers, out, quiet)
        job.check_pairs(counts["parts"])
        return counts

    def learn(out: Path) -> dict[str, Any]:
        if job.like:
            job.like.copy_subwords(out)
            return {}
        train = [texts / f"train.{language}" for language in plan.languages]
        pairs = sum(part["kept"] for part in cleaned["parts"] if part["split"] == "train")
        learn_model(job.subwords, TrainingTexts(train[0], train[1], pairs, quiet), out, job.vocabulary, workers)
        return {}

    def binary(out: Path) -> dict[str, Any]:
        of_subwords = [subwords / DICTIONARY] if DICTIONARY in method.files else []
        dictionaries = job.like.dictionaries() if job.like else of_subwords
        joined = len(dictionaries) == 1 if dictionaries else plan.protocol.joined_dictionary
        tokens = sum(sum(split["tokens"]) + 2 * split["pairs"] for split in encoded["pieces"].values())
        return {"lines": binarise(pieces, plan.languages, out, workers, dictionaries, joined, tokens, quiet)}

    cleaned = stages.run("text", clean)
    if not keep and job.corpus:
        stages.remove("texts")  # the extracted members
    stages.run("subwords", learn, lasting=True)
    encoded = stages.run("pieces", lambda out: write_pieces(texts, subwords, job.subwords, plan, workers, out, quiet))
    if not keep:
        stages.remove("text")
    stages.run("data-bin", binary, lasting=True)
    if note.exists():
        verify(folder, by_hash=False)  # sizes alone, which is quick; a training checks the hashes
    else:
        publish(pieces, folder)
        write_sealed(note, report(job, folder, stages, workers))
    if not keep:
        stages.remove("pieces")


def publish(pieces: Path, folder: Path) -> None:
    """Copy the raw texts to the folder of the data-bin, each atomically."""
    for raw in sorted(pieces.glob("*.raw.*")):
        partial = folder / f"{raw.name}.partial"
        shutil.copyfile(raw, partial)
        partial.replace(folder / raw.name)


def report(job: PrepareJob, folder: Path, stages: Stages, workers: int) -> dict[str, Any]:
    source, target = job.plan.languages
    raw = [
        folder / f"{split}.raw.{language}"
        for split in splits(folder, f"raw.{source}")[1:]
        for language in (source, target)
    ]
    reports = stages.reports
    texts = describe(folder, raw)
    files = {kind: {**reports["data-bin"][kind], **reports["subwords"][kind], **texts[kind]} for kind in texts}
    return {
        "corpus": job.name,
        "published": job.corpus.published if job.corpus else None,
        "source": source,
        "target": target,
        "subwords": job.subwords,
        "vocabulary": job.vocabulary,
        "pairs": reports["data-bin"]["lines"],
        "parts": reports["text"]["parts"],
        "pieces": reports["pieces"]["pieces"],
        "settings": job.settings(),
        "inputs": to_builtins(stages.inputs),
        **files,
        "seconds": {name: stage["seconds"] for name, stage in reports.items()},
        "workers": workers,
        "versions": {"python": platform.python_version(), **versions()},
    }


def versions() -> dict[str, str]:
    installed = {
        distribution.metadata["Name"]: distribution.version for distribution in importlib.metadata.distributions()
    }
    return {name: installed[name] for name in PACKAGES if name in installed}
