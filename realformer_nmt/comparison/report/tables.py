"""Table family x depth for a terminal, Markdown, LaTeX and a spreadsheet."""

import csv
import io
import re
from collections.abc import Sequence
from itertools import groupby

from tabulate import tabulate

from realformer_nmt.common.terminal import printable
from realformer_nmt.comparison.report.columns import Column, columns, paper_columns
from realformer_nmt.comparison.report.formatting import MARK, metrics, placed
from realformer_nmt.comparison.report.notes import notes
from realformer_nmt.comparison.report.outside_table import outside_table, spreadsheet_rows
from realformer_nmt.comparison.report.report_table import ReportTable, test_sets, tuned_table
from realformer_nmt.comparison.results.results_file import ResultRow, Results

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


def shown(table: ReportTable) -> list[Column]:
    """Return the columns that a reader sees."""
    return [column for column in columns(table) if column.head is not None]


def headers(table: ReportTable) -> list[str]:
    return [str(column.head) for column in shown(table)]


def lines(table: ReportTable) -> list[list[str]]:
    """Return the text of every row, column by column."""
    return [line(row, shown(table)) for row in table.rows]


def line(row: ResultRow, listed: Sequence[Column]) -> list[str]:
    return [column.text(row) for column in listed]


def terminal_table(results: Results) -> str:
    blocks = [titled(table, "{}\n", plain(table)) for table in test_sets(results)]
    tuned = tuned_table(results)
    if tuned:
        blocks.append(f"{tuned.title}\n{plain(tuned)}")
    outside = outside_table(results)
    if outside:
        rows = [[printable(word) for word in words] for words in outside.lines]
        blocks.append(f"{outside.title}\n{tabulate(rows, outside.headers, disable_numparse=True)}")
    return "\n\n".join(blocks)


def titled(table: ReportTable, title: str, text: str) -> str:
    """Return a table below its title; without further test sets it has no title."""
    return (title.format(printable(table.title)) if table.results.further else "") + text


def plain(table: ReportTable) -> str:
    cells = [[printable(word) for word in words] for words in [headers(table), *lines(table)]]
    text: str = tabulate(cells[1:], cells[0], disable_numparse=True, colalign=alignment(shown(table)))
    return text


def alignment(listed: Sequence[Column]) -> list[str]:
    return ["left" if column.align_left else "right" for column in listed]


def markdown(results: Results) -> str:
    blocks = [titled(table, "{}:\n\n", markdown_table(table)) for table in test_sets(results)]
    tuned = tuned_table(results)
    if tuned:
        blocks.append(f"{tuned.title}:\n\n{markdown_table(tuned)}\n\n{tuned.note}")
    outside = outside_table(results)
    if outside:
        rows = [[markdown_escaped(word) for word in words] for words in [outside.headers, *outside.lines]]
        table = tabulate(rows[1:], rows[0], tablefmt="github", disable_numparse=True)
        blocks.append(f"{outside.title}:\n\n{table}\n\n{markdown_escaped(outside.note)}")
    items = [f"- {markdown_escaped(note)}" for note in notes(results)]
    for metric in metrics(results):
        if metric.signature:
            items.append(f"- {markdown_escaped(metric.label)}: `{printable(metric.signature).replace('`', '')}`")
    return "\n\n".join([*blocks, "\n".join(items)]) + "\n"


def markdown_table(table: ReportTable) -> str:
    cells = [[markdown_escaped(word) for word in words] for words in [headers(table), *lines(table)]]
    text: str = tabulate(
        cells[1:], cells[0], tablefmt="github", disable_numparse=True, colalign=alignment(shown(table))
    )
    return text


def markdown_escaped(text: str) -> str:
    return MARKDOWN.sub(lambda match: f"\\{match[0]}", printable(text))


def latex(results: Results) -> str:
    tabulars = [titled(table, "% {}\n", latex_table(table)) for table in test_sets(results)]
    tuned = tuned_table(results)
    if tuned:
        tabulars.append(f"% {tuned.title}\n{latex_table(tuned)}")
    outside = outside_table(results)
    if outside:
        body = "\n".join(map(latex_line, outside.lines))
        tabulars.append(f"% {outside.title}\n{tabular('l' + 'r' * len(outside.headers[1:]), outside.headers, [body])}")
    return "% \\usepackage{booktabs}\n" + "\n".join(tabulars)


def latex_table(table: ReportTable) -> str:
    listed = paper_columns(table)
    bodies = ["\n".join(latex_line(line(row, listed)) for row in rows) for _, rows in groupby(table.rows, key=placed)]
    sides = "".join(side[0] for side in alignment(listed))
    return tabular(sides, [str(column.head) for column in listed], bodies)


def tabular(sides: str, heads: Sequence[str], bodies: Sequence[str]) -> str:
    """Return a tabular of booktabs, a rule between bodies: one body per depth."""
    return "\n".join(
        [
            f"\\begin{{tabular}}{{{sides}}}",
            "\\toprule",
            latex_line(heads),
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
    tables = test_sets(results)
    figures = {name: figure for column in columns(tables[0]) for name, figure in column.figures.items()}
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")

    def write(cells: Sequence[object]) -> None:
        writer.writerow([cell if isinstance(cell, int | float | None) else word(str(cell)) for cell in cells])

    write([*figures, "subset"])
    for table in tables:
        for row in table.rows:
            write([*(figure(row) for figure in figures.values()), table.subset])
    for row in spreadsheet_rows(results):
        write([*(figure(row) for figure in figures.values()), results.subset])
    return stream.getvalue()


def word(text: str) -> str:
    """Return the text with an apostrophe before each character that could begin a formula, wherever cells are split."""
    return FORMULA.sub("'", printable(text))
