"""`realformer-nmt sample`: a prepared corpus with a share of its training pairs, as a prepared corpus of its own."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from msgspec.structs import replace

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.files.atomic_files import completed_folder
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.common.numbers import FRACTION
from realformer_nmt.common.requests.option import argument, option
from realformer_nmt.common.requests.request import Request
from realformer_nmt.common.stages.outputs import writer
from realformer_nmt.corpora.preparing.prepare_record import PrepareRecord, Sample
from realformer_nmt.data_bins import subsets
from realformer_nmt.data_bins.file_checks import WRITER, describe, read_files, verify
from realformer_nmt.data_bins.index import check_sound, header
from realformer_nmt.data_bins.prepared_folder import PreparedFolder

GOLDEN = (5**0.5 - 1) / 2
SPLIT = "train"


@dataclass(frozen=True, kw_only=True)
class SampleRequest(Request):
    """Copy a folder of `realformer-nmt prepare` with a share of its training pairs, evenly spread over all of them. A
    smaller share is part of a larger one; subwords, dictionaries, validation and test sets are the same."""

    subcommand: ClassVar[str] = "sample"
    implementation: ClassVar[str] = __name__
    examples: ClassVar[str] = "example: realformer-nmt sample data/wmt14_en_de --share 0.25 --folder data/quarter"

    prepared: Path = argument("the folder of `realformer-nmt prepare`", metavar="PREPARED")
    share: float = option("of the pairs: above 0, below 1", metavar="S", range=FRACTION)
    folder: Path = option("the folder to make")


REQUEST = SampleRequest


def run(request: SampleRequest) -> int:
    verify(request.prepared)
    prepared, folder = PreparedFolder(request.prepared), PreparedFolder(request.folder)
    sample = Sample(share=request.share, of=sha256(prepared.record))
    if folder.record.is_file():
        check_same(folder, sample)
        print(f"{request.folder}: up to date")
        return 0
    with completed_folder(request.folder) as part:
        write(prepared, PreparedFolder(part), sample)
    print(folder.record)
    return 0


def check_same(folder: PreparedFolder, sample: Sample) -> None:
    verify(folder.path, by_hash=False)
    if records.read(folder.record, PrepareRecord, WRITER).sample != sample:
        raise UserError(f"{folder.path} holds other pairs: name another --folder, or remove it")


def write(prepared: PreparedFolder, to: PreparedFolder, sample: Sample) -> None:
    sampled = subsets.files(prepared.data, joined=[SPLIT])
    if not sampled:
        raise UserError(
            f"{prepared.path} has no training pairs to take a share of: give a corpus that was made with --train"
        )
    for name in read_files(prepared.record):
        (to.path / name).parent.mkdir(exist_ok=True)
        if prepared.path / name not in sampled.values():
            shutil.copyfile(prepared.path / name, to.path / name)
    pairs = [take(file, to.data / name, sample.share) for name, file in sampled.items() if name.endswith(".idx")]
    record = records.read(prepared.record, PrepareRecord, WRITER)
    files = describe(to.path, sorted(path for path in to.path.rglob("*") if path.is_file()))
    changes = {
        "written_by": writer("sample"),
        "pairs": {**record.pairs, SPLIT: pairs[0]},
        "pieces": {name: counts for name, counts in record.pieces.items() if name != SPLIT},  # it counts all pairs
    }
    records.write(to.record, replace(record, **changes, sample=sample, bytes=files.bytes, sha256=files.sha256))


def take(index: Path, to: Path, share: float) -> int:
    """Write the sampled sentences of one .idx and .bin to another, and return their number."""
    from fairseq.data import indexed_dataset  # here: the commands' --help does not wait for it

    number = check_sound(index, None, index)
    kind, _ = header(index)
    indices = sample_indices(number, share)
    if not len(indices):
        raise UserError(f"--share {share} selects none of {number} pairs: use a larger share")
    sentences = indexed_dataset.MMapIndexedDataset(str(index.with_suffix("")))
    builder = indexed_dataset.MMapIndexedDatasetBuilder(str(to.with_suffix(".bin")), dtype=kind.type)
    for i in indices:
        builder.add_item(sentences[i])
    builder.finalize(str(to))
    return len(indices)


def sample_indices(number: int, share: float) -> np.ndarray:
    """Return the indices i with the smallest fractions of i (sqrt(5) - 1) / 2 (Weyl 1916), in ascending order.

    They are evenly spread, and depend neither on the text nor on a generator of random numbers."""
    return np.sort(np.argsort(np.arange(number) * GOLDEN % 1)[: round(share * number)])
