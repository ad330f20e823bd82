"""A metric is one row of the table: TER, of which less is better, against sacreBLEU's own."""

import itertools
from pathlib import Path

import pytest
from sacrebleu.metrics import TER
from texts.word_salad import texts

from realformer_nmt.common.errors import UserError
from realformer_nmt.comparison.grid import grid
from realformer_nmt.evaluation import significance
from realformer_nmt.evaluation.metrics import metrics
from realformer_nmt.evaluation.metrics.metric_table import METRICS, RAW, WORDS, Metric
from realformer_nmt.evaluation.metrics.metrics import ScoredTexts
from realformer_nmt.evaluation.significance import SignificanceRequest
from realformer_nmt.evaluation.tested_system import System


@pytest.fixture(autouse=True)
def _ter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METRICS, "ter", Metric("TER", TER, higher_is_better=False))


def test_it_is_scored_as_sacrebleu_scores_it() -> None:
    hypotheses, reference = texts()
    with metrics.seeded(1):
        scores = metrics.scores({RAW: ScoredTexts("raw text", hypotheses, reference)}, 0)
    assert list(scores) == ["bleu", "chrf", "ter"]
    assert scores["ter"].score == TER().corpus_score(hypotheses, [reference]).score
    assert (scores["ter"].metric, scores["ter"].text) == ("TER", "raw text")


def test_a_text_has_the_metrics_that_are_of_it() -> None:
    words = ScoredTexts("words", ["a b c d e"], ["a b c d f"])
    assert list(metrics.scores({WORDS: words}, 0)) == ["tokenised_bleu"]


def test_a_grid_may_choose_what_is_scored_from_texts_alone(tmp_path: Path) -> None:
    file = tmp_path / "grid.toml"
    for metric in ("ter", "bleu", "retokenised_bleu"):
        file.write_text(f'families = ["admin"]\nlayers = ["6"]\nmetric = "{metric}"\n')
        assert grid.load(file).metric == metric
    refused = {"valid_loss": "metric valid_loss is not one of bleu, chrf, .*ter", "comet": 'name it, comet = "MODEL"'}
    for metric, message in refused.items():
        file.write_text(f'families = ["admin"]\nlayers = ["6"]\nmetric = "{metric}"\n')
        with pytest.raises(UserError, match=message):
            grid.load(file)


def test_a_grid_names_the_model_of_its_metric(tmp_path: Path) -> None:
    """The model is a path from the grid's folder, or else a name of the hub."""
    file = tmp_path / "grid.toml"
    file.write_text('families = ["admin"]\nlayers = ["6"]\nmetric = "comet"\ncomet = "models/mine"\n')
    assert grid.load(file).comet_model == "models/mine"
    (tmp_path / "models" / "mine").mkdir(parents=True)
    assert grid.load(file).comet_model == str(tmp_path / "models" / "mine")
    file.write_text(f'{file.read_text()}[data]\nfolder = "a"\nsubwords = "none"\nreference = "b"\n')
    with pytest.raises(UserError, match="comet reads the raw source, which"):
        grid.load(file)


def test_the_system_with_fewer_errors_is_the_better_one() -> None:
    """Half of the first system's sentences have an error, an eighth of the second's; all of the third's."""
    reference = [f"the cat number {n} sat on the mat" for n in range(40)]
    systems = [
        System(name, "", [line if n % every else f"{line} now" for n, line in enumerate(reference)], reference, "")
        for name, every in (("half", 2), ("eighth", 8), ("all", 1))
    ]
    rows = significance.compare(systems, ["bleu", "ter"], "ar", 1000, 1)
    for row, (fewer, metric) in zip(rows, itertools.product((True, False), ("BLEU", "TER")), strict=True):
        assert (row.metric, row.significant, row.better) == (metric, True, fewer)
        assert (row.difference > 0) is (fewer is (metric == "BLEU"))
    request = SignificanceRequest(runs=(), samples=1000, test="ar")
    printed = significance.table(systems[0], rows, request).splitlines()
    for name, verdict in (("eighth", "yes, better"), ("all", "yes, worse")):
        assert ["TER" in line for line in printed if line.startswith(name) and verdict in line] == [False, True]
    agreed = {line.split()[1]: line.endswith(" %") for line in printed if line.startswith("eighth")}
    assert agreed == {"BLEU": True, "TER": False}  # of TER no constants are published
