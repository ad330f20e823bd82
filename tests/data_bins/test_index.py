"""The header of an index against one that fairseq writes."""

import numpy as np
from fairseq.data.indexed_dataset import _code_to_dtype

from realformer_nmt.data_bins.index import KINDS


def test_it_knows_every_type_of_whole_numbers_that_fairseq_does() -> None:
    whole = {code: np.dtype(kind) for code, kind in _code_to_dtype.items() if np.issubdtype(kind, np.integer)}
    assert {code: np.dtype(kind) for code, kind in KINDS.items()} == whole
