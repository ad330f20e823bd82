"""Requests whose record says what it was made from, so that they are done once."""

from dataclasses import dataclass

from realformer_nmt.common.finished import Stage
from realformer_nmt.common.request import Request


@dataclass(frozen=True, kw_only=True)
class StageRequest(Request):
    """Base of requests that leave a record."""

    def stage(self) -> Stage:
        """Return the record to write, with the settings and the files that it is made from."""
        raise NotImplementedError
