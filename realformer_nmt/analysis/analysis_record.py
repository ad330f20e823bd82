"""analysis.json: what `realformer-nmt analyse` measured in each model."""

from typing import Any

from msgspec import field

from realformer_nmt.common.records import StageRecord


class AnalysisRecord(StageRecord, frozen=True, kw_only=True):
    """Record of an analysis."""

    models: list[dict[str, Any]]
    figures: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
