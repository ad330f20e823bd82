"""How a comparison scores the models of each task: a row of SCORINGS."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from realformer_nmt.comparison.grid import corpus, text_scoring, translation_scoring
from realformer_nmt.comparison.grid.cell import CellStage
from realformer_nmt.comparison.grid.corpus import CorpusChoice
from realformer_nmt.comparison.grid.grid import Grid
from realformer_nmt.protocols.protocol import Protocol
from realformer_nmt.tasks import TRANSLATION


class Scoring(NamedTuple):
    find: Callable[[Grid, Path | None, Path | None, Path], CorpusChoice]  # from the grid, --prepared and --archives
    check: Callable[[CorpusChoice, str], object]  # raises where the data-bin lacks a subset
    stages: Callable[[Grid, CorpusChoice, Path, Protocol, str], tuple[CellStage, ...]]  # of a subset, after the average
    tested: Callable[[str], str]  # the metric whose difference is tested where this one is drawn
    p_value: Callable[[Path, Path, str, int, int], float | None]
    of_words: bool = True  # targets are words, whose entropy tells whether a model is stuck


MEASURED = Scoring(
    text_scoring.find, text_scoring.check, text_scoring.stages, text_scoring.tested, text_scoring.p_value
)
SCORINGS = {
    TRANSLATION: Scoring(
        corpus.find,
        text_scoring.check,
        translation_scoring.stages,
        translation_scoring.tested,
        translation_scoring.p_value,
    ),
    "language_modeling": MEASURED,
    "masked_lm": MEASURED,
    "sentence_prediction": MEASURED._replace(check=text_scoring.check_labelled, of_words=False),
    "question_answering": MEASURED._replace(check=text_scoring.check_questions, of_words=False),
    "span_masked_lm": MEASURED._replace(of_words=False),  # names of spans are among the targets
}
