"""The time limit of ranks that wait for one another, as a rank may be stopped, or its machine lost."""

import os
from datetime import timedelta
from typing import Any

import torch

from realformer_nmt.common.errors import UserError
from realformer_nmt.fairseq_patches.patch import Original, replace

VARIABLE = "REALFORMER_NMT_PATIENCE"
DEFAULT = 900  # seconds: writing a large checkpoint takes less, and so does a rank's longer share of the validation
SHORTEST, LONGEST = 1, 30 * 86400


def seconds() -> int:
    """Return the limit that the environment sets, or the default."""
    text = os.environ.get(VARIABLE, str(DEFAULT))
    if not text.isdecimal() or not SHORTEST <= int(text) <= LONGEST:
        raise UserError(
            f"{VARIABLE}={text}: allowed are {SHORTEST} to {LONGEST:,} seconds, such as {DEFAULT}; or unset it"
        )
    return int(text)


def limit_the_wait() -> None:
    """Set the time limit of every process group.

    fairseq sets none (distributed/utils.py), so a rank waits 30 minutes for one that was stopped or whose machine
    sleeps. Each new group needs the limit again: torch's own are 30 minutes for gloo and 10 for NCCL.
    """
    for name in ("init_process_group", "new_group"):
        replace(torch.distributed, name, with_limit)


def with_limit(original: Original, *args: Any, **kwargs: Any) -> Any:
    return original(*args, **{"timeout": timedelta(seconds=seconds()), **kwargs})
