"""What a comparison does with the models of a task: each a row."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from realformer_nmt.comparison import corpus, measured, translated
from realformer_nmt.comparison.cell import Stage
from realformer_nmt.comparison.corpus import Corpus
from realformer_nmt.comparison.grid import Grid
from realformer_nmt.protocols.tasks import TRANSLATION


class Scoring(NamedTuple):
    find: Callable[[Grid, Path | None, Path | None, Path], Corpus]  # by what the command line names
    stages: Callable[[Grid, Corpus, Path, list[str], str], tuple[Stage, ...]]  # of a subset, after the average
    tested: Callable[[str], str]  # the metric whose difference is tested where this one is drawn
    p_value: Callable[[Path, Path, str, int, int], float | None]


MEASURED = Scoring(measured.find, measured.stages, measured.tested, measured.p_value)
SCORINGS = {
    TRANSLATION: Scoring(corpus.find, translated.stages, translated.tested, translated.p_value),
    "language_modeling": MEASURED,
    "masked_lm": MEASURED,
}
