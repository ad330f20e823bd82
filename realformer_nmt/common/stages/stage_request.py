"""Requests that write a record of what their result was made from, so that they are not repeated."""

from dataclasses import dataclass
from pkgutil import resolve_name

from realformer_nmt.common.requests.request import Request
from realformer_nmt.common.stages.stage import Stage


@dataclass(frozen=True, kw_only=True)
class StageRequest(Request):
    """Base of requests that write a record."""

    def stage(self) -> Stage:
        """Return the record to write, with the settings and the files that it is made from."""
        stage: Stage = resolve_name(f"{self.implementation}:stage_of")(self)
        return stage
