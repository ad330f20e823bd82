"""docs/evaluation.md and the record of docs/results/scripts/human_scores.py: p-values, and what people said."""

from typing import Any

from figures.pages import record, row, says, table
from human_scores import SAMPLES, SEED, RatedSet, compare

from realformer_nmt.evaluation.exchanges import Exchanges
from realformer_nmt.evaluation.significance import scorer

PAGE, HEADING = "docs/evaluation.md", "#### Do people agree?"
ROWS: list[dict[str, Any]] = record("human_scores")["rows"]
LINES, DOCUMENTS = 0, 1
CHRF, BLEU = ([each for each in ROWS if each["metric"] == metric] for metric in ("chrF2", "sacreBLEU"))
WMT24 = [each for each in ROWS if each["set"].startswith("WMT24")]


def total(rows: list[dict[str, Any]], count: str, *units: int) -> int:
    """Return the sum of a count over rows; units choose one of several counts."""
    counts = [row[count] for row in rows]
    for unit in units:
        counts = [each[unit] for each in counts]
    return sum(counts)


def cells(each: dict[str, Any]) -> list[object]:
    """Return a row of the page's table; exchanges of five talks reach no p below 0.05."""
    among = each["significant, people undecided"]
    return [
        each["set"],
        each["metric"],
        each["pairs"],
        f"{each['people agree']:.0f} %",
        f"{each['same order'] / each['pairs']:.0%}".replace("%", " %"),
        f"{each['significant, same order'][LINES]} of {each['significant'][LINES]}",
        f"{among[LINES][LINES]} of {each['people undecided'][LINES]}",
        among[DOCUMENTS][LINES] if each["documents"] > 5 else "",
    ]


def test_the_table_is_that_of_the_record() -> None:
    assert table(PAGE, HEADING) == [row(*cells(each)) for each in ROWS]


def test_the_page_says_what_the_record_says() -> None:
    undecided, among = "people undecided", "significant, people undecided"
    by_people = [each for each in CHRF if each in WMT24]
    pairs = total(CHRF, "pairs")
    shown = sum(each["people agree"] * each["pairs"] for each in CHRF) / pairs
    same = 100 * total(CHRF, "same order") / pairs
    strict = [total(WMT24, "strictly significant", unit) for unit in (LINES, DOCUMENTS)]
    lines, documents = (total(WMT24, "significant", unit) for unit in (LINES, DOCUMENTS))
    says(
        PAGE,
        f"`people agree` shows {shown:.0f} % for chrF2 on average; it was {same:.0f} %",
        f"in {total(CHRF, among, LINES, LINES)} of the {total(CHRF, undecided, LINES)} pairs",
        f"{total(BLEU, among, LINES, LINES)} of {total(BLEU, undecided, LINES)} for sacreBLEU",
        f"in {total(CHRF, 'significant, against people', LINES, LINES)} of {total(CHRF, 'significant', LINES)}",
        f"{lines} tests of WMT24 have p < 0.05 by lines, {documents} by documents",
        f"{strict[DOCUMENTS]} of the {strict[LINES]} with p < 0.01 by lines",
        f"{total(WMT24, 'significant by both') - strict[DOCUMENTS]} of the {lines - strict[LINES]} between",
        f"{total(by_people, undecided, LINES)} of {total(by_people, 'pairs')} pairs by lines, "
        f"{total(by_people, undecided, DOCUMENTS)} by documents",
    )


def test_exchanges_are_those_of_significance_and_documents_of_a_line_are_lines() -> None:
    system, baseline = ["a b c d", "e f g h", "the end x"], ["a b c d e", "e f h g", "an end x"]
    texts = {"system": system, "baseline": baseline}
    reference, documents = ["a b c d", "e f g h", "an end x"], ["1", "2", "3"]
    _, by_lines, by_documents = compare(scorer("chrf"), texts, RatedSet("", texts, {}, reference, documents))
    p = Exchanges(scorer("chrf"), system, baseline, reference).p_of_samples(SAMPLES, SEED)
    assert by_lines == by_documents == [max(p, 0.25)]
    _, _, by_document = compare(scorer("chrf"), texts, RatedSet("", texts, {}, reference, ["1"] * 3))
    assert by_document == [1]  # both ways to exchange one document reach the difference
