"""The record of an average, OUTPUT.json, and of each checkpoint in it, which stands in the average itself."""

from msgspec import UNSET, Struct, UnsetType, field

from realformer_nmt.common.files.records import StageRecord


class SourceCheckpoint(Struct, frozen=True, kw_only=True):
    """Checkpoint that another one was made from, with those that it was itself made from."""

    file: str
    sha256: str
    epoch: int | UnsetType | None = UNSET
    updates: int | None = None
    averaged: list["SourceCheckpoint"] | UnsetType = UNSET

    @property
    def sources(self) -> list["SourceCheckpoint"]:
        return self.averaged or []


class AverageRecord(StageRecord, frozen=True, kw_only=True):
    """Record of an average."""

    averaged: list[str] = field(default_factory=list)  # names of the checkpoints

    @property
    def members(self) -> list[SourceCheckpoint]:
        return [SourceCheckpoint(file=name, sha256=file.sha256) for name, file in self.made_from.inputs.items()]
