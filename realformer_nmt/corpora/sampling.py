"""A share of the training pairs of a prepared corpus, as a prepared corpus of its own."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from realformer_nmt.common import checksummed_json
from realformer_nmt.common.atomic_files import completed_folder
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.text_lines import sha256
from realformer_nmt.corpora.sample import SampleRequest
from realformer_nmt.data_bins import subsets
from realformer_nmt.data_bins.index import check_sound, header
from realformer_nmt.data_bins.prepare_record import NAME, WRITER, describe, verify
from realformer_nmt.data_bins.prepare_record import read as read_note

GOLDEN = (5**0.5 - 1) / 2
DATA, SPLIT = "data-bin", "train"


def run(request: SampleRequest) -> int:
    verify(request.prepared)
    sample = {"share": request.share, "of": sha256(request.prepared / NAME)}
    if (request.folder / NAME).is_file():
        check_same(request.folder, sample)
        print(f"{request.folder}: was made before, of the same pairs")
        return 0
    with completed_folder(request.folder) as part:
        write(request.prepared, part, sample)
    print(request.folder / NAME)
    return 0


def check_same(folder: Path, sample: dict[str, Any]) -> None:
    verify(folder, by_hash=False)
    if checksummed_json.read(folder / NAME, WRITER).get("sample") != sample:
        raise UserError(f"{folder} holds other pairs: name another --folder, or remove it")


def write(prepared: Path, to: Path, sample: dict[str, Any]) -> None:
    sampled = subsets.files(prepared / DATA, SPLIT)
    if not sampled:
        raise UserError(
            f"{prepared} has no training pairs to take a share of: give a corpus that was made with --train"
        )
    for name in read_note(prepared / NAME):
        (to / name).parent.mkdir(exist_ok=True)
        if prepared / name not in sampled.values():
            shutil.copyfile(prepared / name, to / name)
    pairs = [take(file, to / DATA / name, sample["share"]) for name, file in sampled.items() if name.endswith(".idx")]
    report = checksummed_json.read(prepared / NAME, WRITER, {"pairs": dict, "pieces": dict})
    counts = {**report["pairs"], SPLIT: pairs[0]}
    report["pieces"].pop(SPLIT, None)  # it counts the tokens of all pairs
    files = describe(to, sorted(path for path in to.rglob("*") if path.is_file()))
    checksummed_json.write(to / NAME, {**report, "pairs": counts, "sample": sample, **files})


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
