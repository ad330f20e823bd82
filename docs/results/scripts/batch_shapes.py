"""The cost of few batch shapes: shapes, padding and real tokens a batch, of data-bins and of lengths like WMT's.

python docs/results/scripts/batch_shapes.py batch_shapes.json NAME=DATA_BIN ...
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from fairseq import tasks
from fairseq.data import LanguagePairDataset, ListDataset
from numpy.typing import NDArray
from omegaconf import OmegaConf

from realformer_nmt import fairseq_patches
from realformer_nmt.common.stages.versions import versions
from realformer_nmt.data_bins.languages import pair_in
from realformer_nmt.data_bins.length_ladder import FILLER, RUNGS, LadderDataset, padded_lengths

MAX_TOKENS, MULTIPLE = 8192, 8


def lengths_like_wmt(pairs: int) -> NDArray[np.int64]:
    """Draw log-normal lengths with a median of 24 subwords; those of the two sides correlate by 0.9."""
    random = np.random.default_rng(1)
    normal = random.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], pairs)
    lengths: NDArray[np.int64] = np.exp(np.log(24) + 0.6 * normal).astype(np.int64).clip(2, 256)
    return lengths


def lengths_of(data_bin: Path) -> NDArray[np.int64]:
    source, target = pair_in(data_bin)
    options = {
        "_name": "translation",
        "data": str(data_bin),
        "source_lang": source,
        "target_lang": target,
        "dataset_impl": "mmap",
    }
    task = tasks.setup_task(OmegaConf.create({**options, "train_subset": "train", "required_seq_len_multiple": 1}))
    task.load_dataset("train")
    sizes: NDArray[np.int64] = task.dataset("train").sizes
    return sizes


def dataset(sizes: NDArray[np.int64]) -> LanguagePairDataset:
    sides = [ListDataset(side, side) for side in sizes.T]
    return LanguagePairDataset(sides[0], sizes[:, 0], Words(), sides[1], sizes[:, 1], Words())


class Words:
    """The part of a dictionary that a dataset asks for."""

    def pad(self) -> int:
        return 1

    def eos(self) -> int:
        return 2

    def unk(self) -> int:
        return 3


def rows(sizes: NDArray[np.int64]) -> Iterator[dict[str, object]]:
    pairs = dataset(sizes)
    np.random.seed(1)
    indices = pairs.ordered_indices()
    limits = {"max_tokens": MAX_TOKENS, "required_batch_size_multiple": MULTIPLE}
    plain = [list(batch) for batch in pairs.batch_by_size(indices, **limits)]
    yield row("as fairseq", plain, [sizes[batch].max(0) for batch in plain], sizes)
    rounded = [-(-sizes[batch].max(0) // MULTIPLE) * MULTIPLE for batch in plain]
    yield row("--required-seq-len-multiple 8", plain, rounded, sizes)
    ladder = [list(batch) for batch in LadderDataset(pairs).batch_by_size(indices, **limits)]
    real = [[index for index in batch if index != FILLER] for batch in ladder]
    padded = [np.maximum(padded_lengths(sizes[batch], RUNGS), sizes[batch]).max(0) for batch in real]
    yield row(f"--num-batch-buckets {len(RUNGS)}", ladder, padded, sizes)


def row(
    batching: str, batches: list[list[int]], lengths: list[NDArray[np.int64]], sizes: NDArray[np.int64]
) -> dict[str, object]:
    """Count what fills the two matrices of each batch."""
    shapes = {(len(batch), *map(int, length)) for batch, length in zip(batches, lengths, strict=True)}
    tokens = sum(sizes[[index for index in batch if index != FILLER]].sum() for batch in batches)
    places = sum(len(batch) * length.sum() for batch, length in zip(batches, lengths, strict=True))
    return {
        "batching": batching,
        "batches": len(batches),
        "shapes": len(shapes),
        "padding": round(float(1 - tokens / places), 4),
        "real_tokens_a_batch": round(float(tokens / 2 / len(batches))),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("data_bins", nargs="*", metavar="NAME=DATA_BIN")
    args = parser.parse_args()
    fairseq_patches.apply()
    named = {name: lengths_of(Path(folder)) for name, folder in (text.split("=", 1) for text in args.data_bins)}
    corpora = {**named, "lengths like WMT's": lengths_like_wmt(400_000)}
    record = {
        "max_tokens": MAX_TOKENS,
        "versions": versions(),
        "corpora": [
            {"corpus": name, "pairs": len(sizes), "rows": list(rows(sizes))} for name, sizes in corpora.items()
        ],
    }
    args.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
