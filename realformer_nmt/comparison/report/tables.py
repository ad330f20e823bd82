"""Table family x depth for a terminal, Markdown, LaTeX and a spreadsheet."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby

from tabulate import tabulate

from realformer_nmt.common.terminal import printable
from realformer_nmt.comparison.report.columns import Column, columns, figures, paper_columns
from realformer_nmt.comparison.report.formatting import MARK, metrics, placed
from realformer_nmt.comparison.report.notes import notes
from realformer_nmt.comparison.report.outside_table import outside_table, spreadsheet_rows
from realformer_nmt.comparison.report.report_table import ReportTable, TextTable, test_sets, tuned_table
from realformer_nmt.comparison.results.results_file import Results

LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "\N{MINUS SIGN}": "$-$",
    "\N{EN DASH}": "--",
    MARK: r"$\dagger$",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}
FORMULA = re.compile(r"(?<!\w)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")  # as full-width characters, too
MARKDOWN = re.compile(r"[\\`*\[\]<>|&$~]|(?<!\w)_|_(?!\w)")  # post_ln needs no backslash, _so_ does


def text_tables(results: Results, columns_of: Callable[[ReportTable], list[Column]]) -> Iterator[TextTable]:
    """Yield the table of each test set, that of the tuned rows, and that of translations from elsewhere."""
    for table in test_sets(results):
        yield text_table(table, columns_of(table), table.title if results.further else "")
    tuned = tuned_table(results)
    if tuned:
        yield text_table(tuned, columns_of(tuned), tuned.title)
    outside = outside_table(results)
    if outside:
        yield outside


def text_table(table: ReportTable, listed: Sequence[Column], title: str) -> TextTable:
    bodies = [[[column.text(row) for column in listed] for row in rows] for _, rows in groupby(table.rows, key=placed)]
    sides = ["left" if column.align_left else "right" for column in listed]
    return TextTable(title, [column.head for column in listed], bodies, sides, table.note)


def titled(table: TextTable, title: str, text: str) -> str:
    return (title.format(printable(table.title)) if table.title else "") + text


def aligned(table: TextTable, escaped: Callable[[str], str], style: str) -> str:
    """Return a table in a style of tabulate."""
    heads, *rows = [[escaped(word) for word in words] for words in chain([table.heads], *table.bodies)]
    text: str = tabulate(rows, heads, tablefmt=style, disable_numparse=True, colalign=table.sides)
    return text


def terminal_table(results: Results) -> str:
    return "\n\n".join(
        titled(table, "{}\n", aligned(table, printable, "simple")) for table in text_tables(results, columns)
    )


def markdown(results: Results) -> str:
    texts = []
    for table in text_tables(results, columns):
        texts.append(titled(table, "{}:\n\n", aligned(table, markdown_escaped, "github")))
        texts += [markdown_escaped(table.note)] if table.note else []
    items = [f"- {markdown_escaped(note)}" for note in notes(results)]
    for metric in metrics(results):
        if metric.signature:
            items.append(f"- {markdown_escaped(metric.label)}: `{printable(metric.signature).replace('`', '')}`")
    return "\n\n".join([*texts, "\n".join(items)]) + "\n"


def markdown_escaped(text: str) -> str:
    return MARKDOWN.sub(lambda match: f"\\{match[0]}", printable(text))


def latex(results: Results) -> str:
    return "% \\usepackage{booktabs}\n" + "\n".join(
        titled(table, "% {}\n", tabular(table)) for table in text_tables(results, paper_columns)
    )


def tabular(table: TextTable) -> str:
    """Return a tabular of booktabs, a rule between bodies."""
    bodies = ["\n".join(map(latex_line, lines)) for lines in table.bodies]
    return "\n".join(
        [
            f"\\begin{{tabular}}{{{''.join(side[0] for side in table.sides)}}}",
            "\\toprule",
            latex_line(table.heads),
            "\\midrule",
            "\n\\midrule\n".join(bodies),
            "\\bottomrule",
            "\\end{tabular}",
            "",
        ]
    )


def latex_line(words: Sequence[str]) -> str:
    return " & ".join(map(latex_escaped, words)) + r" \\"


def latex_escaped(text: str) -> str:
    return "".join(LATEX.get(letter, letter) for letter in printable(text))


def spreadsheet(results: Results) -> str:
    """Return all metrics as CSV, unrounded, for another program."""
    tables = [*test_sets(results), *filter(None, [tuned_table(results)])]
    of_row = figures(tables[0])
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")

    def write(cells: Sequence[object]) -> None:
        writer.writerow([cell if isinstance(cell, int | float | None) else word(str(cell)) for cell in cells])

    write([*of_row, "subset"])
    for table in tables:
        for row in table.rows:
            write([*(figure(row) for figure in of_row.values()), table.subset])
    for row in spreadsheet_rows(results):
        write([*(figure(row) for figure in of_row.values()), results.subset])
    return stream.getvalue()


def word(text: str) -> str:
    """Return the text with an apostrophe before each character that could begin a formula, wherever cells are split."""
    return FORMULA.sub("'", printable(text))
