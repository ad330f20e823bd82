"""Which rows are marked as the best, and how large a difference a test set can tell."""

import pytest
from grids.sample_results import change_rows, sample
from msgspec.structs import replace
from test_document import quick_page

from realformer_nmt.comparison.report import notes, power
from realformer_nmt.comparison.report.finding import finding
from realformer_nmt.comparison.results.results_file import MeanScore, ResultRow, Results


def of_few_sentences() -> Results:
    """Return ten rows of one seed, 2.77 to 6.06 BLEU, of which none is significantly worse than another."""
    results = sample(seeds=1, fails=("", ""))
    for number, row in enumerate(results.rows):
        row.scores["bleu"] = MeanScore(mean=2.77 + number * (6.06 - 2.77) / 9, deviation=None)
    change_rows(results, lambda row: row.delta is not None, p=0.2, p_holm=0.9)
    change_rows(results, lambda _: True, best=True, p_best=0.4)
    return replace(results, lines=100)


def test_where_nothing_can_be_distinguished_no_row_is_marked() -> None:
    results = of_few_sentences()
    page = quick_page(results)
    assert page.xpath("//*[@class='best']") == []
    assert "No model is marked as the best" in page.xpath("string(//ul[@class='note']/li[1])")
    assert finding(results).startswith(
        "Every family learns; which is best cannot be told from 100 lines: the scores, 2.77 to 6.06, are not shown to "
        "differ; "
    )


def test_one_row_that_is_worse_brings_the_marks_back() -> None:
    results = of_few_sentences()
    results.rows[0] = replace(results.rows[0], best=False, p_best=0.01)
    assert power.best_rows(results.rows, "bleu") == results.rows[1:]


@pytest.mark.parametrize(("tests", "errors"), [(1, 1.96), (5, 2.576)])
def test_a_normal_error_of_1_asks_for_its_quantile(tests: int, errors: float) -> None:
    """P(|z| > 2) is 0.0455; 0.05 and 0.05 / 5, two-sided, are 1.96 and 2.576 errors."""
    results = sample(seeds=1)
    row = next(row for row in results.rows if row.delta)
    rows = [replace(row, delta={"bleu": 2.0}, p=0.0455)] * tests
    assert power.smallest_significant(rows, "bleu") == pytest.approx(errors, abs=0.01)
    rows = [replace(row, delta={"bleu": 200.0}, p=0.0455)] * tests  # as of perplexities
    assert f"from about {200 if tests == 1 else 260} on is significant" in notes.notes(replace(results, rows=rows))[3]


def test_without_a_p_that_says_something_there_is_no_estimate() -> None:
    rows: list[ResultRow] = [replace(row, p=1.0) for row in sample(seeds=1).rows]
    assert power.smallest_significant(rows, "bleu") is None
    assert "is significant" not in quick_page(replace(sample(seeds=1), rows=rows)).text_content()
