"""The best of a table, and what a test of significance cannot tell from it."""

from pathlib import Path

from msgspec.structs import replace
from test_summary import described, make_cell, p_of_sacrebleu, scored

from realformer_nmt.comparison.results import best, summary
from realformer_nmt.comparison.results.results_file import ResultRow


def marked(folder: Path, seeds: dict[str, list[int]], scores: dict[str, float]) -> dict[str, ResultRow]:
    cells = [make_cell(folder, family, seed) for family, family_seeds in seeds.items() for seed in family_seeds]
    cell_results = [described(cell, score=scores[cell.family] + cell.seed / 10) for cell in cells]
    return {
        row.family: row
        for row in best.mark(summary.rows(cell_results, scored(cells), "bleu", "base"), scored(cells), "bleu")
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


def test_where_nothing_is_scored_nothing_is_best(tmp_path: Path) -> None:
    cells = [make_cell(tmp_path, "base", 1, "stuck"), make_cell(tmp_path, "ours", 1)]
    rows = summary.rows(
        [described(cells[0], "stuck", 0.5), described(cells[1], score=30.0)], scored(cells), "bleu", "base"
    )
    assert [row.best for row in best.mark(rows, scored(cells), "bleu")] == [False, True]
    assert [row.best for row in best.mark(rows, scored(cells), "chrf")] == [False, False]


def test_where_less_is_better_the_lowest_is_best(tmp_path: Path) -> None:
    cells = [make_cell(tmp_path, family, 1) for family in ("base", "ours")]
    rows = summary.rows([described(cell, score=20.0) for cell in cells], [], "bleu", "base")
    perplexities = zip(rows, (30.0, 25.0), strict=True)
    rows = [replace(row, scores={"perplexity": replace(row.scores["bleu"], mean=mean)}) for row, mean in perplexities]
    assert [row.family for row in best.ranked(rows, "perplexity")] == ["ours", "base"]
