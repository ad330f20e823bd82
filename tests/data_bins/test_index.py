"""The header of an index against one that fairseq writes."""

from pathlib import Path

import numpy as np
import torch
from fairseq.data.indexed_dataset import MMapIndexedDataset, MMapIndexedDatasetBuilder, _code_to_dtype

from realformer_nmt.data_bins.index import HEADER, KINDS


def test_it_says_what_fairseq_wrote(tmp_path: Path) -> None:
    builder = MMapIndexedDatasetBuilder(str(tmp_path / "text.bin"), dtype=np.int32)
    for length in (3, 1, 4):
        builder.add_item(torch.arange(length))
    builder.finalize(str(tmp_path / "text.idx"))
    magic, version, code, count = HEADER.unpack((tmp_path / "text.idx").read_bytes()[: HEADER.size])
    assert (magic, version, count) == (MMapIndexedDataset.Index._HDR_MAGIC, 1, 3)
    assert _code_to_dtype[code] == np.int32


def test_it_knows_every_type_of_whole_numbers_that_fairseq_does() -> None:
    whole = {code: np.dtype(kind) for code, kind in _code_to_dtype.items() if np.issubdtype(kind, np.integer)}
    assert {code: np.dtype(kind) for code, kind in KINDS.items()} == whole
