"""The time limit of ranks that wait for one another, as a rank may be stopped, or its machine lost."""

import math
import os
import types
import typing
from datetime import timedelta

import torch
from fairseq.distributed import utils as distributed_utils

from realformer_nmt.common.errors import UserError

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


class _PatientDistribution(types.ModuleType):
    """torch.distributed for fairseq, with this limit for all groups; torch's own differ by backend, 30 minutes for gloo
    and 10 for NCCL."""

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(torch.distributed, name)

    def init_process_group(self, *args: typing.Any, **kwargs: typing.Any) -> None:
        torch.distributed.init_process_group(*args, **{"timeout": timedelta(seconds=seconds()), **kwargs})

    def new_group(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        return torch.distributed.new_group(*args, **{"timeout": timedelta(seconds=seconds()), **kwargs})


def limit_the_wait() -> None:
    """Set the time limit of every process group.

    fairseq sets none (distributed/utils.py), so a rank waits 30 minutes for one that was stopped or whose machine
    sleeps. Each new group needs the limit again.
    """
    distributed_utils.dist = _PatientDistribution("torch.distributed")
