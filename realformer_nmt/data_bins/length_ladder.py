"""Training batches of few shapes: lengths are padded to rungs of a ladder, and a shape has one number of rows.

A GPU that has recorded a step for a shape can replay it, and memory is allocated once per shape.
"""

import logging
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from fairseq.data import BaseWrapperDataset
from numpy.typing import NDArray

RUNGS = np.array([8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 128, 160, 192, 256])
NARROWEST = 0.75  # length of the shorter side, at least, as a share of the longer side's
KEY = 1 << 16  # more than any length of a rung
FILLER = -1  # index of a row that costs nothing: it has no target

Lengths = NDArray[np.int64]
logger = logging.getLogger(__name__)


class LadderDataset(BaseWrapperDataset):
    """Pairs of sentences in batches of few shapes; a pair longer than the last rung keeps its length."""

    def __getitem__(self, index: int) -> Mapping[str, Any]:
        if index != FILLER:
            sample: Mapping[str, Any] = self.dataset[index]
            return sample
        eos, pad = torch.tensor([self.dataset.eos]), torch.tensor([self.dataset.src_dict.pad()])
        return {"id": FILLER, "source": eos, "target": pad, "alignment": torch.empty(0, 2, dtype=torch.long)}

    def batch_by_size(
        self,
        indices: Lengths,
        max_tokens: int | None = None,
        max_sentences: int | None = None,
        required_batch_size_multiple: int = 1,
    ) -> list[Lengths]:
        """Cut indices into batches of as many rows per shape; the last one of a shape is filled if it is half full."""
        limits = (max_tokens, max_sentences, required_batch_size_multiple)
        shapes = padded_lengths(self.dataset.sizes[indices], RUNGS[(max_tokens or np.inf) >= RUNGS])
        keys = shapes @ [KEY, 1]  # one number per shape, which sorts fast
        order = np.argsort(keys, kind="stable")
        kinds, starts = np.unique(keys[order], return_index=True)
        groups = dict(zip(kinds.tolist(), np.split(indices[order], starts)[1:], strict=True))
        longer = groups.pop(0, indices[:0])
        batches = [
            batch for key, group in groups.items() for batch in filled(group, rows_of(max(divmod(key, KEY)), *limits))
        ]
        logger.info(f"{len(indices) - len(longer):,} pairs make {len(batches):,} batches of {len(groups)} shapes")
        return batches + (self.dataset.batch_by_size(longer, *limits) if len(longer) or not batches else [])

    def collater(self, samples: list[Mapping[str, Any]]) -> Any:
        """Pad to the rungs of the longest pair; fillers do not count as sentences."""
        pairs = [sample for sample in samples if sample["id"] != FILLER]
        if not pairs:
            return self.dataset.collater(samples)
        sizes = self.dataset.sizes[[sample["id"] for sample in pairs]]
        source, target = padded_lengths(sizes, RUNGS).max(0).tolist()
        batch = self.dataset.collater(samples, pad_to_length={"source": source, "target": target})
        return {**batch, "nsentences": len(pairs)}


def padded_lengths(sizes: Lengths, rungs: Lengths) -> Lengths:
    """Return the lengths to which both sides of pairs are padded, N x 2; zeros for a pair beyond the last rung."""
    if not len(rungs):
        return np.zeros_like(sizes)
    longer = sizes.max(1, keepdims=True)
    sides = rungs[np.searchsorted(rungs, sizes).clip(max=len(rungs) - 1)]
    narrowest = rungs[np.searchsorted(rungs, NARROWEST * sides.max(1, keepdims=True))]
    lengths: Lengths = np.where(longer <= rungs[-1], np.maximum(sides, narrowest), 0)
    return lengths


def rows_of(length: int, max_tokens: int | None, max_sentences: int | None, multiple: int) -> int:
    """Return the number of rows of a batch by fairseq's rules for --batch-size, and for --max-tokens in multiples."""
    if max_sentences is not None:
        return min(max_sentences, max_tokens // length if max_tokens else max_sentences)
    rows = (max_tokens or 0) // length
    return rows - rows % multiple if rows >= multiple else rows


def filled(indices: Lengths, rows: int) -> Iterator[Lengths]:
    """Yield batches of as many rows, in order; the last one is filled if it is half full."""
    for start in range(0, len(indices), rows):
        batch = indices[start : start + rows]
        yield np.append(batch, np.full(rows - len(batch) if 2 * len(batch) >= rows else 0, FILLER))
