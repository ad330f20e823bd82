"""Translations from elsewhere in LaTeX and in the spreadsheet, beside the rows that were trained here."""

import csv
import io

from grids.sample_results import sample
from msgspec.structs import replace

from realformer_nmt.comparison.report import tables
from realformer_nmt.comparison.results.cell_result import CellScore
from realformer_nmt.comparison.results.results_file import OutsideRow

ROW = OutsideRow(
    name="gpt_5&co",
    file="gpt.txt",
    sha256="0" * 64,
    scores={"bleu": CellScore(score=70.25, interval=None)},
    depth="18",
    layers=[18, 18],
    delta={"bleu": 7.125},
    p=0.001,
    p_holm=0.002,
)
RESULTS = replace(sample(), outside=[ROW, replace(ROW, name="no place", depth=None, layers=[], delta={}, p=None)])


def test_latex_has_a_table_of_its_own_with_a_figure_in_each_column() -> None:
    lines = tables.latex(RESULTS).split("% Not trained here\n")[1].splitlines()
    assert lines[0] == r"\begin{tabular}{lrrrrr}"
    name, *figures = lines[4].removesuffix(r" \\").split(" & ")
    assert name == r"gpt\_5\&co"
    assert figures[:4] == ["18 layers", "70.25", "+7.12", "0.0020"]
    assert lines[5].startswith("no place & -- & 70.25 & --")


def test_the_spreadsheet_says_what_was_not_trained_here() -> None:
    """A translation that has no row of the baseline beside it has no depth, and is left to results.json."""
    *rows, row = csv.DictReader(io.StringIO(tables.spreadsheet(RESULTS)))
    assert len(rows) == len(sample().rows)
    assert (row["family"], row["depth"], row["states"], row["seeds"]) == ("gpt_5&co", "18", "not trained here", "0")
    assert [float(row[f"bleu_{figure}"]) for figure in ("mean", "difference")] == [70.25, 7.125]
    assert (row["p"], row["p_holm"], row["subset"]) == ("0.001", "0.002", sample().subset)
