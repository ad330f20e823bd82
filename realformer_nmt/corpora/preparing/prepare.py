"""`realformer-nmt prepare`: from the archives of a corpus, or the user's own files, to fairseq's data-bin.

FOLDER/data-bin, FOLDER/subwords and, for scoring, the raw texts FOLDER/test.raw.en ... remain; intermediate files are
removed as soon as they are not needed. FOLDER/prepare.json is written last.
"""

import platform
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from realformer_nmt.common.files import records
from realformer_nmt.common.files.atomic_files import completed
from realformer_nmt.common.files.folder_lock import locked
from realformer_nmt.common.files.records import Origin
from realformer_nmt.common.stages import outputs
from realformer_nmt.common.stages.stage_steps import RECORDS, SteppedStage, begun_record
from realformer_nmt.common.stages.versions import ENGINES, installed
from realformer_nmt.corpora.archives.extract import NOTE
from realformer_nmt.corpora.fetch import TEXTS, extracted_files, fetch_texts
from realformer_nmt.corpora.preparing import prepare_job
from realformer_nmt.corpora.preparing.binarise import binarise
from realformer_nmt.corpora.preparing.clean_splits import write_texts
from realformer_nmt.corpora.preparing.encode_subwords import write_subwords
from realformer_nmt.corpora.preparing.prepare_job import PrepareJob
from realformer_nmt.corpora.preparing.prepare_record import (
    BinarisedRecord,
    PartCounts,
    PrepareRecord,
    SubwordsRecord,
    SubwordTextRecord,
    TextRecord,
)
from realformer_nmt.corpora.preparing.prepare_request import PrepareRequest
from realformer_nmt.corpora.subwords.subword_methods import DICTIONARY, METHODS
from realformer_nmt.corpora.subwords.subwords import TooLargeError, TrainingTexts, learn_model
from realformer_nmt.data_bins.file_checks import describe, verify
from realformer_nmt.data_bins.prepared_files import PreparedFiles
from realformer_nmt.data_bins.prepared_folder import DATA, SUBWORD_TEXT, SUBWORDS, TEXT, PreparedFolder

PACKAGES = ("realformer-nmt", *ENGINES, "numpy", "regex", "sacremoses", "sentencepiece", "subword-nmt")
MANY = 1 / 4  # of the training pairs: the filter of lengths drops fewer from a corpus that it suits
REQUEST = PrepareRequest


def run(request: PrepareRequest) -> int:
    folder = PreparedFolder(request.folder)
    if request.verify:
        print(f"{request.folder}: {verify(request.folder)} files are as they were prepared")
        return 0
    job = prepare_job.job(request)
    check_folder(job, folder)
    with locked(request.folder / ".lock", "is preparing"):
        prepare(job, folder, request)
    print(folder.record)
    return 0


def check_folder(job: PrepareJob, folder: PreparedFolder) -> None:
    """Raise if files that `prepare` did not write would be overwritten; a folder that it has begun may go on."""
    outputs.check_folder(folder.path)
    if outputs.is_record(folder.record, "prepare") or begun_record(folder.path).is_file():
        return
    filled = [folder.record, folder.path / RECORDS, folder.text, folder.subwords, folder.subword_text, folder.data]
    extracted = [path for path in folder.path.glob(f"{TEXTS}/*") if not (path / NOTE).is_file()] if job.corpus else []
    for path in (*filled, *extracted, *folder.path.glob("*.raw.*")):
        outputs.check_free(path, "prepare")


def prepare(job: PrepareJob, folder: PreparedFolder, request: PrepareRequest) -> None:
    """Do what is not done yet, step by step, and remove what the next steps do not need."""
    stage = SteppedStage("prepare", begun_record(folder.path), job.settings(), job.inputs(), end=folder.record)
    origin = stage.start()
    work = PrepareSteps(job, folder, request)
    text = stage.step(TEXT, TextRecord, work.clean, reads=origin)
    if not request.keep and job.corpus:
        stage.remove(extracted_files(job.corpus))
    subwords = stage.step(SUBWORDS, SubwordsRecord, partial(work.learn, text), lasting=True)
    encoded = stage.step(SUBWORD_TEXT, SubwordTextRecord, work.encode)
    if not request.keep:
        stage.remove(text_files(TEXT, encoded.pieces, job.plan.languages))
    data = stage.step(DATA, BinarisedRecord, work.binarise, lasting=True)
    if folder.record.exists():
        verify(folder.path, by_hash=False)  # sizes alone, which is quick; a training checks the hashes
        return
    raw = describe(folder.path, publish(folder, encoded.pieces, job.plan.languages))
    if not request.keep:
        stage.remove(text_files(SUBWORD_TEXT, encoded.pieces, job.plan.languages))
    records.write(folder.record, work.record(origin, text, subwords, encoded, data, raw))


@dataclass(frozen=True)
class PrepareSteps:
    """The work of each step, into a folder `out`, and the record of all."""

    job: PrepareJob
    folder: PreparedFolder
    request: PrepareRequest

    def clean(self, out: Path) -> TextRecord:
        job, request = self.job, self.request
        members = fetch_texts(job.corpus, request.folder, job.archives, quiet=request.quiet) if job.corpus else {}
        counts = write_texts(job.parts(members), job.plan, request.workers, out, request.quiet)
        job.check_pairs(counts)
        dropped = dropped_line(TEXT, sum(part.pairs for part in counts), [part.dropped for part in counts])
        lines = (dropped, ratio_warning(counts), prepare_job.shared_text_warning(job.own_files or {}))
        for line in filter(None, lines):
            print(line, file=sys.stderr)
        return TextRecord(parts=counts)

    def learn(self, text: TextRecord, out: Path) -> SubwordsRecord:
        job, request = self.job, self.request
        size = job.vocabulary
        if job.like:
            for name, file in job.like.subwords().items():
                shutil.copyfile(file, out / name)
        else:
            source, target = (self.folder.text / f"train.{language}" for language in job.plan.languages)
            pairs = sum(part.kept for part in text.parts if part.split == "train")
            texts = TrainingTexts(source, target, pairs, request.quiet)
            size = self.learn_model(texts, out)
        files = describe(out, sorted(out.iterdir()), within=SUBWORDS)
        return SubwordsRecord(bytes=files.bytes, sha256=files.sha256, vocabulary=size)

    def learn_model(self, texts: TrainingTexts, out: Path) -> int:
        """Learn subwords and return their number; without --vocabulary a small text may have fewer."""
        job, request = self.job, self.request
        try:
            learn_model(job.subwords, texts, out, job.vocabulary, request.workers)
        except TooLargeError as error:
            if request.vocabulary:
                raise
            print(f"vocabulary of {error.most}: the text has no more subwords", file=sys.stderr)
            learn_model(job.subwords, texts, out, error.most, request.workers)
            return error.most
        return job.vocabulary

    def encode(self, out: Path) -> SubwordTextRecord:
        job, folder, request = self.job, self.folder, self.request
        pieces = write_subwords(
            folder.text, folder.subwords, job.subwords, job.plan, request.workers, out, request.quiet
        )
        job.check_encoded_pairs(pieces)
        dropped = [counts.dropped for counts in pieces.values()]
        pairs = sum(counts.pairs for counts in pieces.values()) + sum(sum(counts.values()) for counts in dropped)
        if line := dropped_line(SUBWORD_TEXT, pairs, dropped):
            print(line, file=sys.stderr)
        return SubwordTextRecord(pieces=pieces)

    def binarise(self, out: Path) -> BinarisedRecord:
        job, request = self.job, self.request
        learnt = [self.folder.subwords / DICTIONARY] if DICTIONARY in METHODS[job.subwords].files else []
        dictionaries = job.like.dictionaries() if job.like else learnt
        text, languages, joined = self.folder.subword_text, job.plan.languages, job.plan.protocol.joined_dictionary
        lines = binarise(text, languages, out, request.workers, dictionaries, joined, request.quiet)
        files = describe(out, sorted(out.iterdir()), within=DATA)
        return BinarisedRecord(lines=lines, bytes=files.bytes, sha256=files.sha256)

    def record(
        self,
        origin: Origin,
        text: TextRecord,
        subwords: SubwordsRecord,
        encoded: SubwordTextRecord,
        data: BinarisedRecord,
        raw: PreparedFiles,
    ) -> PrepareRecord:
        job = self.job
        steps = {TEXT: text, SUBWORDS: subwords, SUBWORD_TEXT: encoded, DATA: data}
        return PrepareRecord(
            written_by=outputs.writer("prepare"),
            corpus=job.name,
            published=job.published,
            source=job.plan.source,
            target=job.plan.target,
            subwords=job.subwords,
            vocabulary=subwords.vocabulary or job.vocabulary,
            pairs=data.lines,
            parts=text.parts,
            pieces=encoded.pieces,
            settings=origin.settings,
            inputs=origin.inputs,
            bytes={**data.bytes, **subwords.bytes, **raw.bytes},
            sha256={**data.sha256, **subwords.sha256, **raw.sha256},
            seconds={name: step.seconds for name, step in steps.items()},
            workers=self.request.workers,
            versions={"python": platform.python_version(), **installed(*PACKAGES)},
        )


def dropped_line(step: str, pairs: int, dropped: Iterable[Mapping[str, int]]) -> str | None:
    """Return the number of pairs that a step dropped, by reason; None if it dropped none."""
    reasons: Counter[str] = Counter()
    for counts in dropped:
        reasons.update(counts)
    listed = ", ".join(f"{number:,} {reason.replace('_', ' ')}" for reason, number in reasons.items())
    return f"{step}: {reasons.total():,} of {pairs:,} pairs dropped: {listed}" if listed else None


def ratio_warning(parts: Sequence[PartCounts]) -> str | None:
    """Return a warning if the ratio of lengths drops many training pairs, as of a language without spaces."""
    training = [part for part in parts if part.split == "train"]
    pairs, dropped = sum(part.pairs for part in training), sum(part.dropped.get("ratio", 0) for part in training)
    if dropped <= MANY * pairs:
        return None
    return (
        f"{TEXT}: {dropped:,} of {pairs:,} training pairs were dropped because one side has many times the words of "
        "the other; for a language without spaces between words, give a larger --ratio, such as 1000"
    )


def text_files(folder: str, splits: Iterable[str], languages: Sequence[str]) -> list[str]:
    """Return the paths of the texts and the raw texts of the splits in the folder of a step."""
    names = [name for split in splits for name in (split, f"{split}.raw")]
    return [f"{folder}/{name}.{language}" for name in names for language in languages]


def publish(folder: PreparedFolder, splits: Iterable[str], languages: Sequence[str]) -> list[Path]:
    """Copy the raw texts to the folder of the data-bin, and return those of valid, test, test1 ... there.

    An earlier preparation into the folder may have had more test sets, which are not listed."""
    for raw in sorted(folder.subword_text.glob("*.raw.*")):
        with raw.open("rb") as text, completed(folder.path / raw.name) as copy:
            shutil.copyfileobj(text, copy)
    return [folder.raw(name, language) for name in splits if name != "train" for language in languages]
