"""The table family x depth, for a terminal, for Markdown, for LaTeX and for a spreadsheet."""

import csv
import io
import re
from collections.abc import Sequence
from itertools import groupby

from tabulate import tabulate

from realformer_nmt.common.terminal import printable
from realformer_nmt.comparison.report.made import named, version
from realformer_nmt.comparison.report.wording import (
    MARK,
    Record,
    by_size,
    difference,
    hours,
    measured,
    metrics,
    millions,
    probability,
    quality,
    scored_on,
    seeds,
    test_sets,
    tested,
    whole,
)

WORDS = 2  # columns that hold words: family and depth; the others hold figures
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


def headers(results: Record) -> list[str]:
    drawn, *others = [metric["label"] for metric in metrics(results)]
    compared = [f"to {results['baseline']}", "p (Holm)"]
    return ["family", "depth", drawn, "seeds", *compared, *others, "parameters", "tokens/s", "hours"]


def line(row: Record, results: Record) -> list[str]:
    drawn, *others = [metric["name"] for metric in metrics(results)]
    compared = [difference(row, drawn), probability(row)]
    cost = [millions(row["parameters"]), whole(row["tokens_a_second"]), hours(row["hours"])]
    return [
        named(row, results),
        row["depth"],
        quality(row, drawn),
        seeds(row),
        *compared,
        *(measured(row, name) for name in others),
        *cost,
    ]


def lines(results: Record) -> list[list[str]]:
    return [line(row, results) for row in by_size(results["rows"])]


def terminal_table(results: Record) -> str:
    return "\n\n".join(titled(table, "{}\n", plain(table)) for table in test_sets(results))


def titled(table: Record, title: str, text: str) -> str:
    """The one table of one test set needs no title."""
    return (title.format(printable(scored_on(table))) if table.get("further") else "") + text


def plain(results: Record) -> str:
    shown = [[printable(word) for word in words] for words in [headers(results), *lines(results)]]
    return tabulate(shown[1:], shown[0], disable_numparse=True, colalign=alignment(shown[0]))


def alignment(columns: Sequence[str]) -> list[str]:
    return ["left"] * WORDS + ["right"] * (len(columns) - WORDS)


def markdown(results: Record) -> str:
    made = [titled(table, "{}:\n\n", markdown_table(table)) for table in test_sets(results)]
    signatures = [
        f"- {markdown_escaped(metric['label'])}: `{printable(metric['signature']).replace('`', '')}`"
        for metric in metrics(results)
        if metric["signature"]
    ]
    return "\n\n".join([*made, markdown_escaped(tested(results)), "\n".join(signatures)]).strip() + "\n"


def markdown_table(results: Record) -> str:
    shown = [[markdown_escaped(word) for word in words] for words in [headers(results), *lines(results)]]
    return tabulate(shown[1:], shown[0], tablefmt="github", disable_numparse=True, colalign=alignment(shown[0]))


def markdown_escaped(text: str) -> str:
    return MARKDOWN.sub(lambda found: f"\\{found[0]}", printable(text))


def latex(results: Record) -> str:
    tabulars = [titled(table, "% {}\n", latex_table(table)) for table in test_sets(results)]
    return "% \\usepackage{booktabs}\n" + "\n".join(tabulars)


def latex_table(results: Record) -> str:
    """A tabular of booktabs, a rule between depths."""
    columns = headers(results)
    bodies = [
        "\n".join(latex_line(line(row, results)) for row in rows)
        for _, rows in groupby(by_size(results["rows"]), key=lambda row: row["depth"])
    ]
    return "\n".join(
        [
            f"\\begin{{tabular}}{{{'l' * WORDS}{'r' * (len(columns) - WORDS)}}}",
            "\\toprule",
            latex_line(columns),
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
    names = [metric["name"] for metric in metrics(results)]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")

    def write(cells: Sequence[object]) -> None:
        writer.writerow([cell if isinstance(cell, int | float | None) else word(str(cell)) for cell in cells])

    measured = [f"{name}_{figure}" for name in names for figure in ("mean", "deviation", "difference")]
    cost = ["parameters", "tokens_a_second", "hours"]
    sizes = ["family", "depth", "encoder_layers", "decoder_layers"]
    write([*sizes, "seeds", "failed", "states", *measured, "p", "p_holm", "p_is_bound", *cost, "version", "subset"])
    for table in test_sets(results):
        for row in by_size(table["rows"]):
            counts = [row["seeds"], row["failed"], " ".join(row["states"])]
            scores = [figure for name in names for figure in figures(row, name)]
            tests = [row["p"], row["p_holm"], row["p_is_bound"]]
            costs = [row[name] for name in cost]
            sizes = [row["family"], row["depth"], *row["layers"]]
            write([*sizes, *counts, *scores, *tests, *costs, version(row, results), table["subset"]])
    return stream.getvalue()


def word(text: str) -> str:
    """No formula begins in it, whichever character a spreadsheet splits cells at: an apostrophe stands before."""
    return FORMULA.sub("'", printable(text))


def figures(row: Record, metric: str) -> list[float | None]:
    score = row["scores"].get(metric, {})
    return [score.get("mean"), score.get("deviation"), (row["delta"] or {}).get(metric)]
