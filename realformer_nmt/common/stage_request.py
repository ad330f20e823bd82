"""Requests that write a record of what their result was made from, so that they are not repeated."""

from dataclasses import dataclass

from realformer_nmt.common.request import Request
from realformer_nmt.common.stage_record import Stage


@dataclass(frozen=True, kw_only=True)
class StageRequest(Request):
    """Base of requests that write a record."""

    def stage(self) -> Stage:
        """Return the stage: the record to write, and the settings and files that it is made from."""
        raise NotImplementedError
