"""Rows of translations from elsewhere: their scores, and their differences to the baseline at each place."""

from collections.abc import Sequence

from msgspec.structs import replace

from realformer_nmt.common.files.records import none_if_unset
from realformer_nmt.common.files.text_lines import read_lines, sha256
from realformer_nmt.comparison.grid.cell import Cell
from realformer_nmt.comparison.grid.corpus import CorpusChoice
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.comparison.grid.outside_texts import OutsideText, check_lines, raw_text
from realformer_nmt.comparison.grid.translation_scoring import TEST, tested
from realformer_nmt.comparison.results.cell_result import CellScore
from realformer_nmt.comparison.results.results_file import OutsideRow, ResultRow
from realformer_nmt.comparison.results.summary import SAMPLES, SEED, holm, members
from realformer_nmt.evaluation import p_values, significance, tested_system
from realformer_nmt.evaluation.comet import model_files
from realformer_nmt.evaluation.metrics import metrics
from realformer_nmt.evaluation.metrics.metric_table import METRICS, RAW, SUMMARY
from realformer_nmt.evaluation.metrics.metrics import ScoredTexts
from realformer_nmt.evaluation.tested_system import System

INTERVAL_SAMPLES = 1000


def rows(
    texts: Sequence[OutsideText],
    grid: Grid,
    corpus: CorpusChoice,
    scored: Sequence[Cell],
    table: Sequence[ResultRow],
    cpu: bool = False,
) -> list[OutsideRow]:
    """Return a row per text and row of the baseline in the table; `scored` are the cells that are done and scored."""
    baseline = grid.baseline or grid.families[0]
    baselines: list[ResultRow | None] = [row for row in table if row.family == baseline and row.seeds]
    listed = []
    for text in texts:
        system = scored_system(text, grid, corpus, cpu)
        listed += [compared(text, system, place, grid, scored) for place in baselines or [None]]
    corrected = holm({number: row.p for number, row in enumerate(listed)})
    return [replace(row, p_holm=corrected.get(number)) for number, row in enumerate(listed)]


def scored_system(text: OutsideText, grid: Grid, corpus: CorpusChoice, cpu: bool = False) -> System:
    """Score a text against the reference of the first test set; its name says so if it is the reference."""
    subset = grid.subsets[0]
    check_lines(text, corpus, subset)
    reference_file = raw_text(corpus, subset, 1)
    lines, reference = text.lines(), read_lines(reference_file)
    forms = {RAW, METRICS[grid.drawn].text} & {RAW, SUMMARY}
    with metrics.seeded(SEED):
        scores = metrics.scores(dict.fromkeys(forms, ScoredTexts("raw text", lines, reference)), INTERVAL_SAMPLES)
        if grid.comet_model:
            from realformer_nmt.evaluation.comet import scorer  # which imports transformers

            opened, source = scorer.CometScorer(model_files.find(grid.comet_model), cpu), raw_text(corpus, subset, 0)
            scores["comet"] = scorer.score(opened, read_lines(source), lines, reference, INTERVAL_SAMPLES)
    name = f"{text.name} (the reference itself)" if lines == reference else text.name
    return System(name, subset, lines, reference, sha256(reference_file), scores=scores)


def compared(
    text: OutsideText, system: System, place: ResultRow | None, grid: Grid, scored: Sequence[Cell]
) -> OutsideRow:
    """Return the row of a text beside the baseline's row at one place; of several seeds the largest p counts."""
    scores = {name: CellScore(score=s.score, interval=none_if_unset(s.interval)) for name, s in system.scores.items()}
    row = OutsideRow(name=system.name, file=str(text.file), sha256=sha256(text.file), scores=scores)
    if place is None:
        return row
    delta = {name: s.score - place.scores[name].mean for name, s in system.scores.items() if name in place.scores}
    p = largest_p(system, members(place.cells, scored), tested(grid.drawn), delta.get(grid.drawn))
    is_bound = p is not None and p_values.is_bound(p, SAMPLES)
    return replace(row, depth=place.depth, layers=place.layers, axes=place.axes, delta=delta, p=p, p_is_bound=is_bound)


def largest_p(system: System, baselines: Sequence[Cell], metric: str, of_means: float | None) -> float | None:
    """Return the largest p over the baseline's seeds that were scored by the metric, of the same model, and on the
    same reference, 1 if they do not all differ as the means do."""
    systems = [tested_system.read(cell.scores) for cell in baselines]
    same = [each for each in systems if tested_system.comparable([each, system], metric)]
    tests = [significance.compare([each, system], [metric], TEST, SAMPLES, SEED)[0] for each in same]
    return p_values.largest_p([p_values.SeedDifference(test.difference, test.p) for test in tests], of_means)
