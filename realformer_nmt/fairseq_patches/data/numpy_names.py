"""Names that fairseq uses and numpy no longer has."""

from types import SimpleNamespace
from typing import Any

import numpy as np
from fairseq.data import bucket_pad_length_dataset

from realformer_nmt.fairseq_patches.patch import Original, patch


def name_whole_numbers() -> None:
    """Provide numpy.compat.long for --sample-break-mode eos and --num-batch-buckets."""
    if not hasattr(np, "compat"):
        vars(np)["compat"] = SimpleNamespace(long=int)


@patch(bucket_pad_length_dataset, "get_buckets")
def cut_lengths_into_buckets(_: Original, sizes: Any, number: int) -> Any:
    """Cut lengths into --num-batch-buckets by percentile(method=): fairseq has interpolation= (data/data_utils.py)."""
    return np.unique(np.percentile(sizes, np.linspace(0, 100, number + 1), method="lower")[1:])
