"""Tables of the pages: all rows of each are those of its records."""

from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any, NamedTuple

import pytest
from figures.pages import RESULTS, Figures, record, table

Content = dict[str, Any]
SIZES = ("6L-6L", "18L-18L", "60L-12L")


class Rows(NamedTuple):
    """Rows of a page, each filled from those rows of a record that have the same key; {0} is the first of them."""

    records: str  # in docs/results; a colon before the name of the list, if that is not "rows"
    line: str
    key: Callable[[Content], object] = id
    which: Callable[[Content], object] = bool

    def lines(self) -> Iterator[str]:
        names, _, place = self.records.partition(":")
        groups: dict[object, list[Content]] = {}
        files = sorted(file.relative_to(RESULTS).with_suffix("") for file in RESULTS.glob(f"{names}.json"))
        contents = [record(str(file)) for file in files]
        rows_of_page = [
            row for content in contents for row in content.get(place or "rows", [content]) if self.which(row)
        ]
        for row in rows_of_page:
            groups.setdefault(self.key(row), []).append(row)
        return (Figures().vformat(self.line, rows, {}) for rows in groups.values())


def speeds(name: str) -> Rows:
    figures = " | ".join(f"{{{place}[against stock]}}" for place in (1, 0, 3, 2))
    return Rows(f"{name}:speed", f"| {{0[engine]}} | {figures} |", itemgetter("engine"))


def families(name: str) -> Rows:
    line = "| {0[model]} | {0[against stock][0]:.2f} | {0[peak against stock]:.2f} "
    line += "| {1[against stock][0]:.2f} | {2[against stock][0]:.2f} |"
    return Rows(name, line, itemgetter("model"), lambda row: row["model"] != "stock")


def bf16(name: str, models: int) -> Rows:
    figures = " | ".join(f"{{{place}[against stock]}}" for place in range(1, models + 1))
    return Rows(name, f"| {{0[what]}} | {figures} |", itemgetter("what"))


def on_paper(size: str) -> Rows:
    line = "| `{0[model]}` | {0[training][flops]:*1e-12 .2f} "
    line += "| {0[training][launches][forward]:,} + {0[training][launches][backward]:,} "
    line += "+ {0[training][launches][optimiser]:,} | {0[training][waits]} "
    line += "| {0[training][bytes]:*1e-9 .0f} | {0[training][peak bytes]:*1e-9 .1f} "
    line += "| {0[training][ms at the limits][A100]:.0f} | {0[training][ms at the limits][H100]:.0f} "
    line += "| {0[training][ms of launches]:.0f} | {0[decoding][launches]:,} "
    line += "| {0[decoding][ms at the limits][A100]:.2f} | {0[decoding][ms at the limits][H100]:.2f} "
    return Rows("gpu_on_paper", line + "| {0[decoding][ms of launches]:.1f} |", which=lambda row: row["size"] == size)


def on_gpu(deepest: bool) -> Rows:
    """RealFormer was not measured at the last size."""
    steps, graph, lack = "{{{}[training][ms]:.0f}}", "{{{}[training][ms, graph]:.0f}}", "not measured"
    realformer = (lack, lack) if deepest else (steps.format(2), graph.format(2))
    line = " | ".join([steps.format(0), steps.format(1), realformer[0], graph.format(1), realformer[1]])
    size = itemgetter("size")
    return Rows("gpu_measured", f"| {{0[size]}} | {line} |", size, lambda row: (size(row) == SIZES[-1]) == deepest)


def language_models(family: str) -> Rows:
    line = f"| `{family}` | {{1[measures][perplexity]:.2f}} | {{0[measures][perplexity]:.2f}} |"
    return Rows(f"language_model/{family}-*-400", line, lambda _: family)


def of_fairseq(row: Content) -> bool:
    """fairseq-preprocess was measured with so many pairs only."""
    return bool(row["pairs"] == 500_000)


LENGTHS = "| `{0[family]}` | {0[attention_dropout]:g} | {0[relative_positions]} | `{0[pattern]}` "
LENGTHS += "".join(f"| {{{place}[seconds]:.2f}} s, {{{place}[bytes]:*1e-6 ,.0f}} MB " for place in range(3)) + "|"
CARRIED = "| {0[layers]} | {0[length]:,} | {0[seconds]:.1f} s, {0[bytes]:*1e-6 ,.0f} MB "
CARRIED += "| {1[seconds]:.1f} s, {1[bytes]:*1e-6 ,.0f} MB |"
SERVING = "| {0[clients]} | {0[requests]:,} | {0[lost]} | {0[requests a second]} | {0[p50 ms]} | {0[p99 ms]} "
SERVING += "| {0[server's processor ms a request]} |"
MASKED = "| `{0[family]}` | {0[depth]} | {0[scores][masked_accuracy][mean]:.2f} | {0[scores][perplexity][mean]:.2f} "
EXPORTS = "| `{0[model]}` | {0[engine]} | {0[precision]} | {0[bleu]:.2f} | {0[equal]} |"
BINARISED = "| {0[pairs]:,} | {0[seconds]} s, {0[megabytes]} MB | "
CHAIN = "| {0[rows]} x {0[length]} | {0[times][computed again]:.2f} | {0[times][check-pointed]:.2f} "
CHAIN += "| {0[bytes][stored]:*1e-6 ,.0f} MB | {0[bytes][computed again]:*1e-6 ,.0f} MB "
CHAIN += "| {0[bytes][check-pointed]:*1e-6 ,.0f} MB |"
TABLES = {
    ("results/speed.md", "(engines.json)"): [speeds("engines")],
    ("results/speed.md", "(engines_torch.json)"): [speeds("engines_torch")],
    ("results/speed.md", "(engines_xeon.json)"): [speeds("engines_xeon")],
    ("results/speed.md", "(families.json)"): [families("families")],
    ("results/speed.md", "(families_more.json)"): [families("families_more")],
    ("results/speed.md", "(families_successors.json)"): [families("families_successors")],
    ("results/speed.md", "(bf16_training.json)"): [bf16("bf16_training", 2)],
    ("results/speed.md", "(bf16_training_xeon.json)"): [bf16("bf16_training_xeon", 4)],
    ("results/serving.md", "\n"): [Rows("serving", SERVING)],
    ("results/exports.md", "\n"): [Rows("exports", EXPORTS)],
    ("results/long_inputs.md", "\n"): [Rows("long_inputs", LENGTHS, lambda row: str([*row.values()][:4]))],
    ("results/long_inputs.md", "(recall.json)"): [
        Rows("recall", "| `{0[pattern]}` | `{0[family]}` | {0[right]:.1%} |")
    ],
    ("results/long_inputs.md", "(carried_scores.json)"): [
        Rows("carried_scores", CARRIED, itemgetter("layers", "length"))
    ],
    **{("results/gpu_on_paper.md", f"### {size}\n"): [on_paper(size)] for size in SIZES},
    ("performance.md", "**Larger models**"): [on_gpu(False), on_gpu(True)],
    ("importing.md", "(results/imported_speed.json)"): [
        Rows("imported_speed", "| {0[sentences]} | {0[engine]} | {0[as fast]} |", itemgetter("sentences", "engine"))
    ],
    ("performance.md", "(results/score_chain.json)"): [Rows("score_chain", CHAIN)],
    ("corpora.md", "(results/binarising.json)"): [
        Rows("binarising", f"{BINARISED}{{1[seconds]}} s, {{1[megabytes]}} MB |", itemgetter("pairs"), of_fairseq),
        Rows("binarising", f"{BINARISED}|", which=lambda row: not of_fairseq(row)),
    ],
    ("results/language_model/README.md", "\n"): [*map(language_models, ("post_ln", "pre_ln", "realformer"))],
    ("results/bert/README.md", "## What came out"): [Rows("bert/results", f"{MASKED}| {{0[p_holm]:.4f}} |")],
}


@pytest.mark.parametrize(("page", "under"), TABLES)
def test_every_row_is_the_records(page: str, under: str) -> None:
    lines = [line for rows in TABLES[page, under] for line in rows.lines()]
    assert sorted(table(f"docs/{page}", under)) == sorted(lines)
