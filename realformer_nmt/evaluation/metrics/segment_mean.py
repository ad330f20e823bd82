"""The mean of scores of segments, as a metric of sacreBLEU: its tests and its bootstrap serve neural metrics, too."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from sacrebleu.metrics.base import Metric, Score, Signature


class SegmentSignature(Signature):
    def __init__(self, args: dict[str, object]) -> None:
        super().__init__(args)
        self.info |= cast("Mapping[str, str]", args.get("about", {}))


class MeanOfLines(Metric):
    """Base of metrics that are the mean over lines of a number; a line's statistics are its number and 1."""

    label, scale = "mean", 1

    def _aggregate_and_compute(self, stats: list[list[float]]) -> Score:
        return self._compute_score_from_stats([sum(column) for column in zip(*stats, strict=True)])

    def _compute_score_from_stats(self, stats: Any) -> Score:
        return Score(self.label, self.scale * float(stats[0]) / float(stats[1]))


class SegmentMean(MeanOfLines):
    """Mean of numbers, which come as text: sacreBLEU takes lines alone."""

    _SIGNATURE_TYPE = SegmentSignature

    about: Mapping[str, str] = MappingProxyType({})  # in the signature

    def _preprocess_segment(self, sent: str) -> str:
        return sent

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Sequence[str]]:
        return {"references": refs}

    def _compute_segment_statistics(self, hypothesis: str, _: Mapping[str, Sequence[str]]) -> list[float]:
        return [float(hypothesis), 1]


def mean_of(about: Mapping[str, str]) -> SegmentMean:
    """Return the metric with a signature that says what the segments' scores come from."""
    build: Callable[[], SegmentMean] = SegmentMean
    mean = build()
    mean.about = about
    return mean
