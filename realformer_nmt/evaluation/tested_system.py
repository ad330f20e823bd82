"""A system that is tested: what a record of `realformer-nmt score` says of it, and its texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from realformer_nmt.checkpoints.run_files import SCORES
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import records
from realformer_nmt.common.files.safe_names import path_option
from realformer_nmt.common.files.text_lines import read_recorded
from realformer_nmt.evaluation.metrics import metric_table, metrics
from realformer_nmt.evaluation.run_record import RunRecord, Score

WRITER = "`realformer-nmt score` writes it"


@dataclass(frozen=True)
class System:
    name: str
    test_set: str  # corpus and subset, where the record names them
    hypotheses: list[str]
    reference: list[str]
    reference_sha256: str
    source: str | None = None  # language
    source_sha256: str | None = None  # of a text that is no subset of the data-bin
    scores: Mapping[str, Score] = field(default_factory=dict)  # by metric

    def lines(self, metric: str) -> list[str]:
        """Return what a metric is computed from: the hypotheses, or of a neural metric the scores of segments."""
        neural = metric_table.METRICS[metric].neural
        return list(map(repr, self.segments(metric).segments or [])) if neural else self.hypotheses

    def signature(self, metric: str) -> str | None:
        return self.scores[metric].signature if metric in self.scores else None

    def model(self, metric: str) -> str:
        """Return the hash of the model of a neural metric."""
        return metrics.signed_with(self.segments(metric).signature).get("sha256", "")

    def is_scored(self, metric: str) -> bool:
        """Tell whether a metric can be tested: a neural one needs the scores of segments."""
        score = self.scores.get(metric)
        return not metric_table.METRICS[metric].neural or bool(score and score.segments)

    def segments(self, metric: str) -> Score:
        score = self.scores.get(metric)
        if score is None or not score.segments:
            raise UserError(f"{self.name} has no scores of segments in {metric}: `score --{metric} MODEL` keeps them")
        return score


def parse_run(argument: str) -> Path:
    """Return the file of scores for an argument of the command line: this file, or run.json in a run's folder."""
    path = path_option(argument)
    return path / SCORES if path.is_dir() else path


def read(path: Path) -> System:
    record = records.read(path, RunRecord, WRITER)
    if not {"hypotheses", "reference"} <= record.files.keys():
        raise UserError(f"{path} is no record of a translation's scores; {WRITER}")
    hypotheses, reference = record.files["hypotheses"], record.files["reference"]
    translation = record.translation or None
    source = translation.made_from.inputs.get("input") if translation else None
    return System(
        name=str(path),
        test_set=" ".join(filter(None, (record.corpus, record.subset))) or "a text",
        hypotheses=read_recorded(path.parent / hypotheses.path, hypotheses.sha256, path),
        reference=read_recorded(path.parent / reference.path, reference.sha256, path),
        reference_sha256=reference.sha256,
        source=translation.languages[0] if translation else None,
        source_sha256=source.sha256 if source else None,
        scores=record.scores,
    )


def comparable(systems: Sequence[System], metric: str) -> bool:
    """Tell whether a metric can be tested: all were scored by it, by one model, and on one reference."""
    if len({system.reference_sha256 for system in systems}) > 1 or not all(each.is_scored(metric) for each in systems):
        return False
    return not metric_table.METRICS[metric].neural or len({system.model(metric) for system in systems}) == 1


def check_same_test(systems: Sequence[System]) -> None:
    """Refuse a system of another test set than the first: its reference differs, or the source if both say theirs."""
    first = systems[0]
    for system in systems[1:]:
        if system.reference_sha256 != first.reference_sha256:
            sets = f"another reference ({system.test_set}) than {first.name} ({first.test_set})"
            raise UserError(f"{system.name} has {sets}: compare runs on one test set")
        sources = {(system.source, first.source), (system.source_sha256, first.source_sha256)}
        if any(one and other and one != other for one, other in sources):
            raise UserError(f"{system.name} translates another source than {first.name}: compare runs on one test set")
    if len({Path(system.name).resolve() for system in systems}) < len(systems):
        raise UserError(f"a run is given twice among {', '.join(system.name for system in systems)}: give each once")
