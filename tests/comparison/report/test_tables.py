"""Tables against figures worked out by hand, and against what their readers make of names that are not meant well."""

import csv
import io
import math
import re
import statistics

import pytest
from grids.sample_results import FAMILIES, MeanScore, Results, changed, empty, sample, unfinished
from msgspec.structs import replace

from realformer_nmt.comparison.report import columns, formatting, tables

HOSTILE = r"a|b_&%$#{}~^\<i>*x*`c`[d](e)"
ESCAPES = {r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"\textless{}": "<"}
SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"  # with which a spreadsheet takes a cell for a formula
BEFORE = ("\t", "\r", "\n", " ", ";", ",", '"', "'", "a;", "a\t", "\u2028", "|")
ESCAPES |= {r"\textgreater{}": ">", r"\textbar{}": "|", **{f"\\{letter}": letter for letter in "&%$#_{}"}}


def one_row(results: Results, family: str, depth: str) -> list[str]:
    return next(words for words in lines(results) if words[:2] == [family, depth])


def first(results: Results) -> tables.TextTable:
    return next(tables.text_tables(results, columns.columns))


def lines(results: Results) -> list[list[str]]:
    return [line for body in first(results).bodies for line in body]


def headers(results: Results) -> list[str]:
    return first(results).heads


def test_a_row_says_what_was_measured() -> None:
    results = sample()
    cells = [cell for cell in results.cells if (cell.family, cell.depth) == ("admin", "18")]
    baseline_cells = [cell for cell in results.cells if (cell.family, cell.depth) == ("pre_ln", "18")]
    bleu, baseline = ([cell.scores["bleu"].score for cell in group] for group in (cells, baseline_cells))
    chrf = [cell.scores["chrf"].score for cell in cells]
    row = dict(zip(headers(results), one_row(results, "admin", "18"), strict=True))
    assert row["sacreBLEU"] == f"{statistics.mean(bleu):.2f} ± {statistics.stdev(bleu):.2f}"
    assert row["chrF2"] == f"{statistics.mean(chrf):.2f} ± {statistics.stdev(chrf):.2f}"
    assert row["to pre_ln"] == f"+{statistics.mean(bleu) - statistics.mean(baseline):.2f}"
    assert (row["seeds"], row["p (Holm)"]) == ("3", "0.0120")
    assert (row["parameters"], row["tokens/s"], row["time"]) == ("1.74 M", "1,667", "2.7 min")


@pytest.mark.parametrize(("difference", "expected"), [(-0.004, "0.00"), (-0.006, "\N{MINUS SIGN}0.01")])
def test_what_rounds_to_nothing_has_no_sign(difference: float, expected: str) -> None:
    results = sample()
    results.rows[0].delta["bleu"] = difference
    assert one_row(results, "post_ln", "6")[4] == expected


def test_how_many_people_see_a_difference_stands_beside_its_p() -> None:
    """88.333 / (1 + exp(-0.96639 d)) of BLEU (Kocmi et al. 2024); a metric without constants has no such column."""
    results = sample()
    row = next(row for row in results.rows if (row.family, row.depth) == ("admin", "6"))
    percent = 88.333 / (1 + math.exp(-0.96639 * abs((row.delta or {})["bleu"])))
    shown = dict(zip(headers(results), one_row(results, "admin", "6"), strict=True))
    assert shown["people agree"] == f"{percent:.0f} %"
    assert "People agree: of pairs of systems of WMT" in tables.markdown(results)
    loss = replace(results, metric="valid_loss")
    assert "people agree" not in headers(loss)
    assert "People agree" not in tables.markdown(loss)


def test_a_bound_of_p_is_said_to_be_one() -> None:
    results = sample()
    results.rows[0] = replace(results.rows[0], p=1 / 10001, p_holm=8 / 10001, p_is_bound=True)
    assert one_row(results, "post_ln", "6")[5] == "< 0.0008"


@pytest.mark.parametrize(
    ("states", "score_text", "counted"),
    [
        (["stuck", "stuck", "stuck"], "failed (stuck)", "0 of 3"),
        (["stuck", "diverged", "waiting"], "failed (diverged, stuck)", "0 of 3"),
        (["error", "waiting", "waiting"], "error, waiting", "0 of 3"),
        (["done", "stuck", "done"], "70.00 ± 0.50", "2 of 3, failed (stuck)"),
    ],
)
def test_what_failed_says_how(states: list[str], score_text: str, counted: str) -> None:
    results = sample()
    failed = states.count("stuck") + states.count("diverged")
    results.rows[0] = replace(results.rows[0], states=states, seeds=states.count("done"), failed=failed)
    results.rows[0].scores["bleu"] = MeanScore(mean=70.0, deviation=0.5)  # of a failed cell too: it is not to be shown
    words = one_row(results, "post_ln", "6")
    assert (words[2], words[3]) == (score_text, counted)
    assert "failed" not in " ".join(words[4:])  # once is enough


def test_depths_rise_by_all_their_layers() -> None:
    results = sample({"60-12": [60, 12], "18": [18, 18], "6": [6, 6]}, seeds=1)
    assert [words[1] for words in lines(results)] == ["6"] * 5 + ["18"] * 5 + ["60-12"] * 5
    assert [words[0] for words in lines(results)[:5]] == list(FAMILIES)


def test_the_spreadsheet_holds_all_metrics_unrounded() -> None:
    results = sample()
    read = list(csv.DictReader(io.StringIO(tables.spreadsheet(results))))
    assert len(read) == len(results.rows) == 10
    for line in read:
        row = next(row for row in results.rows if (row.family, row.depth) == (line["family"], line["depth"]))
        assert [int(line["encoder_layers"]), int(line["decoder_layers"])] == row.layers
        for metric in ("bleu", "chrf", "valid_loss"):
            score = row.scores.get(metric)
            assert line[f"{metric}_mean"] == (repr(score.mean) if score else "")
            assert line[f"{metric}_deviation"] == (repr(score.deviation) if score else "")


@pytest.mark.parametrize("start", [*SIGNS, *(f"{before}=" for before in BEFORE)])
def test_no_cell_is_a_formula_wherever_a_spreadsheet_splits(start: str) -> None:
    """The table is split at comma, semicolon, tab and bar, with quotes and without."""
    text = tables.spreadsheet(changed(sample(seeds=1), lambda _: f"{start}SUM(1)*cmd|' /C calc'!A0"))
    assert "SUM(1)" in text
    for separator in ",;\t|":
        for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
            lines = csv.reader(io.StringIO(text), delimiter=separator, quoting=quoting)
            formulas = [cell for line in lines for cell in line if cell.strip()[:1] in set(SIGNS)]
            assert all(math.isfinite(float(cell)) for cell in formulas), "figures stay figures, those below 0 too"
    assert ",-" in text  # a difference


def test_latex_escapes_all_its_specials() -> None:
    results = changed(sample(), lambda text: text + HOSTILE)
    text = tables.latex(results)
    body = text.split("\\midrule\n", 1)[1].split("\n\\bottomrule")[0].replace("\\midrule\n", "")
    pattern = re.compile("|".join(map(re.escape, sorted(ESCAPES, key=len, reverse=True))))
    for line, row in zip(body.splitlines(), formatting.by_size(results.rows), strict=True):
        cells = re.split(r"(?<!\\) & ", line.removesuffix(r" \\"))
        assert len(cells) == 7
        assert pattern.sub(lambda match: ESCAPES[match[0]], cells[0]) == row.family
        assert not re.search(r"[&%#_~^<>|]", pattern.sub("", cells[0]))


def test_latex_is_booktabs_with_a_rule_between_depths() -> None:
    lines = tables.latex(sample()).splitlines()
    rules = [line for line in lines if line.endswith("rule")]
    assert rules == ["\\toprule", "\\midrule", "\\midrule", "\\bottomrule"]
    assert lines[1] == "\\begin{tabular}{llrrrrr}"
    assert lines[3] == r"family & depth & parameters & sacreBLEU & to pre\_ln & p (Holm) & chrF2 \\"  # as in a paper
    assert lines[-1] == "\\end{tabular}"


def test_markdown_keeps_its_columns_whatever_the_names() -> None:
    results = changed(sample(), lambda text: text + HOSTILE)
    table = tables.markdown(results).split("\n\n")[0].splitlines()
    assert len(table) == 2 + len(results.rows)
    for line in table:
        assert len(re.findall(r"(?<!\\)\|", line)) == len(headers(results)) + 1
    bare = re.sub(r"\\.", "", table[2])
    assert not re.search(r"[*`<>\[\]]", bare)


def test_markdown_tells_the_test_and_the_signatures() -> None:
    text = tables.markdown(sample())
    notes = [line for line in text.splitlines() if line.startswith("- ")]
    assert [note.split(" ")[1] for note in notes] == [
        *("Differences", "±", "p", "With", "People"),
        *("sacreBLEU:", "chrF2:"),
    ]
    assert "paired approximate randomisation of sacreBLEU, 10,000 samples" in text
    assert "- sacreBLEU: `nrefs:1|case:mixed|eff:no|tok:13a`" in text
    assert "\\_" not in text  # pre_ln is no emphasis
    assert "settings of their own" not in text


def test_a_name_does_not_steer_the_terminal() -> None:
    assert "\x1b" not in tables.terminal_table(changed(sample(), lambda text: f"\x1b[31m{text}"))


def test_what_runs_still_has_a_table() -> None:
    words = [line.split() for line in tables.terminal_table(unfinished()).splitlines()[2:]]
    assert [line[2] for line in words] == ["63.30", "error", *["waiting"] * 3, "running", *["waiting"] * 4]
    assert "sacreBLEU" in tables.terminal_table(empty()).splitlines()[0].split()
