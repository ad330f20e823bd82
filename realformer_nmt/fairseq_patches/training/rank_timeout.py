"""The time limit of ranks that wait for one another, as a rank may be stopped, or its machine lost."""

import math
import os
from datetime import timedelta
from typing import Any

import torch

from realformer_nmt.common.errors import UserError
from realformer_nmt.fairseq_patches.patch import Original, replace

VARIABLE = "REALFORMER_NMT_PATIENCE"
DEFAULT = 900.0  # seconds: writing a large checkpoint takes less, and so does a rank's longer share of the validation
SHORTEST = 1.0
LONGEST = 30 * 86400.0


def seconds() -> float:
    """Return the limit that the environment sets, or the default."""
    text = os.environ.get(VARIABLE, str(DEFAULT))
    try:
        limit = float(text)
    except ValueError:
        limit = math.nan
    if not SHORTEST <= limit <= LONGEST:
        raise UserError(
            f"{VARIABLE}={text}: allowed are {SHORTEST:.0f} to {LONGEST:,.0f} seconds, such as {DEFAULT:.0f}; "
            "or unset it"
        )
    return limit


def limit_the_wait() -> None:
    """Set the time limit of every process group.

    fairseq sets none (distributed/utils.py), so a rank waits 30 minutes for one that was stopped or whose machine
    sleeps. Each new group needs the limit again: torch's own are 30 minutes for gloo and 10 for NCCL.
    """
    for name in ("init_process_group", "new_group"):
        replace(torch.distributed, name, with_limit)


def with_limit(original: Original, *args: Any, **kwargs: Any) -> Any:
    return original(*args, **{"timeout": timedelta(seconds=seconds()), **kwargs})
