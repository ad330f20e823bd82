"""Means, deviations, differences, p and the best, against the definitions and sacreBLEU's own test."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from grids.grid_cells import NoRequest, stub
from msgspec.structs import replace as with_fields
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest

from realformer_nmt.common.files import json_records
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.comparison.grid.cell import Cell, CellStage
from realformer_nmt.comparison.records.cell_state import CellState
from realformer_nmt.comparison.report import formatting
from realformer_nmt.comparison.results import outside_rows, summary
from realformer_nmt.comparison.results.cell_result import CellResult, CellScore
from realformer_nmt.comparison.results.measured_cell import scored_cells
from realformer_nmt.comparison.results.results_file import ResultRow
from realformer_nmt.evaluation import tested_system
from realformer_nmt.evaluation.metrics.metrics import seeded
from realformer_nmt.evaluation.run_record import Score

REFERENCE = [
    f"the {colour} cat sat on the {place} mat number {n}"
    for n in range(12)
    for colour in ("red", "blue")
    for place in ("old", "new")
]


def hypotheses(family: str, seed: int) -> list[str]:
    """The baseline and `same` err in every second line, ours and `mixed` in each eighth, `mixed` in all at seed 2."""
    every = {"base": 2, "ours": 8, "same": 2, "mixed": 1 if seed == 2 else 8}[family]
    return [line.replace("sat on", "lay in") if (n + seed) % every == 0 else line for n, line in enumerate(REFERENCE)]


ORIGIN: dict[str, Any] = {"made_from": {}, "outputs": {}}


def make_cell(folder: Path, family: str, seed: int, state: str = "done") -> Cell:
    cell_folder = folder / f"{family}-6-s{seed}"
    cell_folder.mkdir()
    files = {"hypotheses": cell_folder / "hypotheses.txt", "reference": cell_folder / "reference.txt"}
    for file, lines in zip(files.values(), (hypotheses(family, seed), REFERENCE), strict=True):
        file.write_text("".join(f"{line}\n" for line in lines))
    located = {name: {"path": file.name, "sha256": sha256(file)} for name, file in files.items()}
    json_records.write_sealed(
        cell_folder / "run.json", {"corpus": "cats", "subset": "test", "files": located, **ORIGIN}
    )
    json_records.write_sealed(cell_folder / "train.json", ORIGIN)
    json_records.write_sealed(cell_folder / "cell.json", {"state": state, "evidence": None, "sessions": []})
    stage = CellStage[Any]("score", NoRequest(), cell_folder / "run.json")
    return replace(stub(folder, stage, family=family, seed=seed), folder=cell_folder)


def described(cell: Cell, state: str = "done", score: float | None = None) -> CellResult:
    return CellResult(
        name=cell.name,
        family=cell.family,
        layers=[6, 6],
        depth="6",
        seed=cell.seed,
        state=state,
        scores={} if score is None else {"bleu": CellScore(score=score, interval=1.0)},
        parameters=10,
        tokens_a_second=100.0 * cell.seed,
        hours=1.0,
    )


def scored(cells: list[Cell]) -> list[Cell]:
    """Return the cells that are done and scored, by what their folders say."""
    return scored_cells(list(map(CellState, cells)), "test")


def p_with_ties(differences: np.ndarray, observed: float) -> float:
    return float((np.sum(differences >= observed - 1e-9) + 1) / (len(differences) + 1))


def p_of_sacrebleu(family: str, seed: int) -> float:
    """Its own samples, with those that equal the difference; unless all possible exchanges give a larger p."""
    differ = sum(one != other for one, other in zip(hypotheses("base", seed), hypotheses(family, seed), strict=True))
    with seeded(summary.SEED), patch("sacrebleu.significance._compute_p_value", p_with_ties):
        systems = [("base", hypotheses("base", seed)), ("ours", hypotheses(family, seed))]
        test = PairedTest(systems, {"bleu": BLEU()}, [REFERENCE], test_type="ar", n_samples=summary.SAMPLES, n_jobs=1)
        p: float = test()[1]["BLEU"][1].p_value
    return max(p, 2 / 2**differ)


def test_a_table_of_three_families_and_two_seeds(tmp_path: Path) -> None:
    cells = [make_cell(tmp_path, family, seed) for family in ("base", "ours", "same") for seed in (1, 2)]
    scores = [20.0, 21.0, 30.0, 33.0, 20.0, 21.0]
    rows = summary.rows(
        [described(c, score=s) for c, s in zip(cells, scores, strict=True)], scored(cells), "bleu", "base"
    )
    base, better, same = rows
    mean = better.scores["bleu"]
    assert [row.family for row in rows] == ["base", "ours", "same"]
    assert (mean.mean, mean.deviation) == (31.5, pytest.approx(math.sqrt(2 * 1.5**2)))
    assert better.delta["bleu"] == 31.5 - 20.5
    assert same.delta["bleu"] == 0
    assert base.delta is base.p is base.p_holm is None
    assert better.tokens_a_second == 150
    expected = max(p_of_sacrebleu("ours", seed) for seed in (1, 2))
    assert expected < 0.05
    assert better.p == expected
    assert same.p == 1  # nothing differs
    assert better.p_holm == pytest.approx(2 * expected)  # the smaller of two
    assert same.p_holm == 1


def test_a_family_that_is_better_with_one_seed_and_worse_with_another_differs_by_chance(tmp_path: Path) -> None:
    """Each seed's difference is significant, and the two have opposite signs: none holds at every seed."""
    cells = [make_cell(tmp_path, family, seed) for family in ("base", "mixed") for seed in (1, 2)]
    table = [described(cell, score=20.0) for cell in cells]
    assert max(p_of_sacrebleu("mixed", seed) for seed in (1, 2)) < 0.05
    rows = summary.rows(table, scored(cells), "bleu", "base")
    assert (rows[1].p, rows[1].p_holm) == (1, 1)
    assert all(row.best for row in summary.mark_best(rows, scored(cells), "bleu"))
    assert outside_rows.largest_p(tested_system.read(cells[0].scores), cells[2:], "bleu", None) == 1


def test_p_is_1_where_a_seed_of_one_alone_turns_the_means_around(tmp_path: Path) -> None:
    """Ours is better at seed 1, which both have; the baseline's mean is better by its seed 2, where ours is stuck."""
    cells = [make_cell(tmp_path, "base", 1), make_cell(tmp_path, "base", 2)]
    cells += [make_cell(tmp_path, "ours", 1), make_cell(tmp_path, "ours", 2, "stuck")]
    scores, states = [50.0, 99.0, 70.0, 0.5], ["done", "done", "done", "stuck"]
    table = [described(cell, state, score) for cell, state, score in zip(cells, states, scores, strict=True)]
    assert p_of_sacrebleu("ours", 1) < 0.05
    rows = summary.mark_best(summary.rows(table, scored(cells), "bleu", "base"), scored(cells), "bleu")
    assert (rows[1].delta["bleu"], rows[1].p, rows[1].p_best) == (70 - 74.5, 1, 1)
    assert [row.best for row in rows] == [True, True]
    system = tested_system.read(cells[2].scores)
    expected = {None: p_of_sacrebleu("ours", 1), 1.0: p_of_sacrebleu("ours", 1), -4.5: 1, 0.0: 1}
    computed = {of_means: outside_rows.largest_p(system, cells[:1], "bleu", of_means) for of_means in expected}
    assert computed == expected


def test_a_model_that_failed_has_no_score_and_no_p_and_is_not_best(tmp_path: Path) -> None:
    """A failed model may have been translated with, but its scores are no sign of what the architecture can do."""
    cells = [make_cell(tmp_path, "base", 1, "stuck"), make_cell(tmp_path, "ours", 1)]
    rows = summary.rows(
        [described(cells[0], "stuck", 0.5), described(cells[1], score=30.0)], scored(cells), "bleu", "base"
    )
    assert [row.failed for row in rows] == [1, 0]
    assert [row.seeds for row in rows] == [0, 1]
    assert rows[0].scores == {}
    assert rows[1].delta is rows[1].p is None
    assert [row.best for row in summary.mark_best(rows, scored(cells), "bleu")] == [False, True]
    assert [row.best for row in summary.mark_best(rows, scored(cells), "chrf")] == [False, False]


def test_the_number_of_seeds_is_that_of_the_mean(tmp_path: Path) -> None:
    """A model that predicts one number for all sentences has a validation loss, and no correlation."""
    cells = [make_cell(tmp_path, "base", seed) for seed in (1, 2, 3)]
    results = [described(cell, score=0.5) for cell in cells]
    for result, pearson in zip(results, (88.0, 87.0, None), strict=True):
        loss = {"valid_loss": result.scores.pop("bleu")}
        result.scores.update(loss if pearson is None else {**loss, "pearson": CellScore(score=pearson)})
    (row,) = summary.rows(results, [], "pearson", "base")
    assert (row.scores["pearson"].mean, row.seeds, formatting.seeds(row)) == (87.5, 2, "2 of 3")
    (row,) = summary.rows(results, [], "comet", "base")  # by which they are not scored yet
    assert row.seeds == 3
    (row,) = summary.rows(results[:1], [], "pearson", "base")
    assert row.scores["pearson"].deviation is None


@pytest.mark.parametrize(("states", "hours"), [(("done", "diverged"), 5.0), (("diverged", "stuck"), 2.55)])
def test_the_hours_are_of_the_trainings_that_were_scored(states: tuple[str, str], hours: float, tmp_path: Path) -> None:
    """The second training ended after six minutes."""
    cells = [make_cell(tmp_path, "base", seed, state) for seed, state in enumerate(states, 1)]
    results = [described(cell, state) for cell, state in zip(cells, states, strict=True)]
    results = [with_fields(result, hours=each) for result, each in zip(results, (5.0, 0.1), strict=True)]
    assert summary.row(results, "bleu").hours == pytest.approx(hours)


def test_where_a_metric_of_tokens_is_drawn_the_raw_text_is_tested(tmp_path: Path) -> None:
    cells = [make_cell(tmp_path, family, 1) for family in ("base", "ours")]
    table = [described(cell, score=20.0) for cell in cells]
    assert summary.rows(table, scored(cells), "tokenised_bleu", "base")[1].p == p_of_sacrebleu("ours", 1)


def test_a_metric_that_the_cells_are_not_scored_by_yet_has_no_p(tmp_path: Path) -> None:
    """A grid may draw COMET before its cells are scored again; the report has their other scores."""
    cells = [make_cell(tmp_path, family, 1) for family in ("base", "ours")]
    rows = summary.rows([described(cell, score=20.0) for cell in cells], scored(cells), "comet", "base")
    assert [row.p for row in rows] == [None, None]
    assert rows[1].delta == {"bleu": 0}
    comet = Score(metric="COMET", score=0.8, signature="", segments=[0.8] * len(REFERENCE))
    system = replace(tested_system.read(cells[0].scores), scores={"comet": comet})
    assert outside_rows.largest_p(system, cells, "comet", None) is None


def score_by_comet(cell: Cell, model: str) -> None:
    run = json_records.read(cell.scores, "")
    segments = [cell.seed + len(cell.family) + n / 100 for n in range(len(REFERENCE))]
    comet = {"metric": "COMET", "score": sum(segments) / len(segments), "segments": segments}
    json_records.write_sealed(cell.scores, {**run, "scores": {"comet": {**comet, "signature": f"sha256:{model}"}}})


def test_scores_of_two_models_have_no_p(tmp_path: Path) -> None:
    """One model scored both at seed 2, two models at seed 1; an outside text has the model of one of them."""
    cells = [make_cell(tmp_path, family, seed) for family in ("base", "mixed") for seed in (1, 2)]
    for cell, model in zip(cells, ("old", "new", "new", "new"), strict=True):
        score_by_comet(cell, model)
    base, mixed = cells[:2], cells[2:]
    pairs = [[one, other] for one, other in zip(base, mixed, strict=True)]
    tables = [summary.rows([described(cell) for cell in pair], pair, "comet", "base") for pair in pairs]
    assert [table[1].p is None for table in tables] == [True, False]
    system = tested_system.read(mixed[0].scores)
    assert [outside_rows.largest_p(system, [cell], "comet", None) is None for cell in base] == [True, False]


def marked(folder: Path, seeds: dict[str, list[int]], scores: dict[str, float]) -> dict[str, ResultRow]:
    cells = [make_cell(folder, family, seed) for family, family_seeds in seeds.items() for seed in family_seeds]
    cell_results = [described(cell, score=scores[cell.family] + cell.seed / 10) for cell in cells]
    return {
        row.family: row
        for row in summary.mark_best(summary.rows(cell_results, scored(cells), "bleu", "base"), scored(cells), "bleu")
    }


def test_what_cannot_be_distinguished_from_the_best_is_best_too(tmp_path: Path) -> None:
    """`same` says what `base` says, so that one is not better than the other, whatever their means."""
    rows = marked(tmp_path, {"base": [1], "same": [1]}, {"base": 20.0, "same": 20.5})
    assert {family: row.best for family, row in rows.items()} == {"base": True, "same": True}
    assert rows["same"].p_best is None
    assert rows["base"].p_best == 1


def test_what_is_significantly_below_the_best_is_not(tmp_path: Path) -> None:
    rows = marked(
        tmp_path, {"base": [1, 2], "ours": [1, 2], "same": [1, 2]}, {"base": 20.0, "ours": 30.0, "same": 20.0}
    )
    assert {family: row.best for family, row in rows.items()} == {"base": False, "ours": True, "same": False}
    expected = 2 * max(p_of_sacrebleu("ours", seed) for seed in (1, 2))  # the two tests are one: Holm's factor of 2
    assert rows["base"].p_best == rows["same"].p_best == expected < 0.05


def test_without_a_seed_in_common_two_cannot_be_distinguished(tmp_path: Path) -> None:
    rows = marked(tmp_path, {"base": [1], "ours": [2]}, {"base": 20.0, "ours": 30.0})
    assert [rows[family].best for family in ("base", "ours")] == [True, True]


def test_where_less_is_better_the_lowest_is_best(tmp_path: Path) -> None:
    cells = [make_cell(tmp_path, family, 1) for family in ("base", "ours")]
    rows = summary.rows([described(cell, score=20.0) for cell in cells], [], "bleu", "base")
    perplexities = zip(rows, (30.0, 25.0), strict=True)
    rows = [
        with_fields(row, scores={"perplexity": with_fields(row.scores["bleu"], mean=mean)})
        for row, mean in perplexities
    ]
    assert [row.family for row in summary.ranked(rows, "perplexity")] == ["ours", "base"]
