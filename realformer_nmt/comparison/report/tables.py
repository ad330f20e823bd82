"""The table family x depth, for a terminal, for Markdown, for LaTeX and for a spreadsheet."""

import csv
import io
import re
from collections.abc import Sequence
from itertools import groupby

from tabulate import tabulate

from realformer_nmt.common.terminal import printable
from realformer_nmt.comparison.report.columns import Column, columns
from realformer_nmt.comparison.report.wording import (
    MARK,
    Record,
    by_size,
    metrics,
    placed,
    scored_on,
    test_sets,
    tested,
    tuned,
)

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


def shown(results: Record) -> list[Column]:
    return [column for column in columns(results) if column.head is not None]


def headers(results: Record) -> list[str]:
    return [str(column.head) for column in shown(results)]


def line(row: Record, results: Record) -> list[str]:
    return [column.text(row) for column in shown(results)]


def lines(results: Record) -> list[list[str]]:
    return [line(row, results) for row in by_size(results["rows"])]


def terminal_table(results: Record) -> str:
    made = [titled(table, "{}\n", plain(table)) for table in test_sets(results)]
    return "\n\n".join([*made, *(f"{own['title']}\n{plain(own)}" for own in [tuned(results)] if own)])


def titled(table: Record, title: str, text: str) -> str:
    """The one table of one test set needs no title."""
    return (title.format(printable(scored_on(table))) if table.get("further") else "") + text


def plain(results: Record) -> str:
    cells = [[printable(word) for word in words] for words in [headers(results), *lines(results)]]
    return tabulate(cells[1:], cells[0], disable_numparse=True, colalign=alignment(results))


def alignment(results: Record) -> list[str]:
    return ["left" if column.words else "right" for column in shown(results)]


def markdown(results: Record) -> str:
    made = [titled(table, "{}:\n\n", markdown_table(table)) for table in test_sets(results)]
    signatures = [
        f"- {markdown_escaped(metric['label'])}: `{printable(metric['signature']).replace('`', '')}`"
        for metric in metrics(results)
        if metric["signature"]
    ]
    made += [f"{own['title']}:\n\n{markdown_table(own)}\n\n{own['told']}" for own in [tuned(results)] if own]
    return "\n\n".join([*made, markdown_escaped(tested(results)), "\n".join(signatures)]).strip() + "\n"


def markdown_table(results: Record) -> str:
    cells = [[markdown_escaped(word) for word in words] for words in [headers(results), *lines(results)]]
    return tabulate(cells[1:], cells[0], tablefmt="github", disable_numparse=True, colalign=alignment(results))


def markdown_escaped(text: str) -> str:
    return MARKDOWN.sub(lambda found: f"\\{found[0]}", printable(text))


def latex(results: Record) -> str:
    tabulars = [titled(table, "% {}\n", latex_table(table)) for table in test_sets(results)]
    return "% \\usepackage{booktabs}\n" + "\n".join(tabulars)


def latex_table(results: Record) -> str:
    """A tabular of booktabs, a rule between depths."""
    bodies = [
        "\n".join(latex_line(line(row, results)) for row in rows)
        for _, rows in groupby(by_size(results["rows"]), key=placed)
    ]
    return "\n".join(
        [
            f"\\begin{{tabular}}{{{''.join(side[0] for side in alignment(results))}}}",
            "\\toprule",
            latex_line(headers(results)),
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


def spreadsheet(results: Record) -> str:
    """All metrics, unrounded: what another program reads on."""
    figures = {name: of for column in columns(results) for name, of in column.figures.items()}
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")

    def write(cells: Sequence[object]) -> None:
        writer.writerow([cell if isinstance(cell, int | float | None) else word(str(cell)) for cell in cells])

    write([*figures, "subset"])
    for table in test_sets(results):
        for row in by_size(table["rows"]):
            write([*(of(row) for of in figures.values()), table["subset"]])
    return stream.getvalue()


def word(text: str) -> str:
    """No formula begins in it, whichever character a spreadsheet splits cells at: an apostrophe stands before."""
    return FORMULA.sub("'", printable(text))
