"""Names that fairseq looks up in numpy, and that numpy 2 has no more."""

from types import SimpleNamespace

import numpy as np


def name_whole_numbers() -> None:
    """--sample-break-mode eos and --num-buckets ask for numpy.compat.long, Python's int since Python 3."""
    if not hasattr(np, "compat"):
        vars(np)["compat"] = SimpleNamespace(long=int)
