"""Speeds in tables that several records or figures by hand share, and in README, are those of their records."""

from itertools import groupby
from statistics import fmean, median
from typing import Any

import pytest
from figures.pages import record, row, says, span, table

SPEED, PERFORMANCE, CORPORA = "docs/results/speed.md", "docs/performance.md", "docs/corpora.md"
ENGINES = {
    "fp32": "post_ln",
    "bf16": "post_ln, bf16",
    "int8": "post_ln, int8",
    "int8, `realformer`": "realformer, int8",
    "CTranslate2 4.8.5, fp32": "CTranslate2",
    "CTranslate2 4.8.5, int8": "CTranslate2, int8",
}


def median_of(figures: dict[str, Any]) -> str:
    return str(figures["against stock"]).split()[0]


def alone(name: str) -> dict[tuple[str, str], str]:
    """Return the medians on one thread, by "62" sentences or "single" ones and by engine."""
    rows = [row for row in record(name)["speed"] if row["threads"] == 1]
    return {(row["what"].split()[0], row["engine"]): median_of(row) for row in rows}


def test_decoding_in_short() -> None:
    """Medians of both machines, and the memory on the first."""
    epyc, xeon = alone("engines"), alone("engines_xeon")
    memory = {row["engine"]: "{:.2f}".format(row["of stock's weights"]) for row in record("engines")["memory"]}
    assert table(PERFORMANCE, "\n## Decoding") == [
        row(
            shown, *(times[what, engine] for times in (epyc, xeon) for what in ("62", "single")), memory.get(engine, "")
        )
        for shown, engine in ENGINES.items()
    ]
    says("README.md", f"[decodes {float(epyc['62', 'realformer, int8']):.1f} times as fast as stock]")


@pytest.mark.parametrize(("name", "machine"), [("", "EPYC"), ("_xeon", "Xeon with AMX")])
def test_training_in_short(name: str, machine: str) -> None:
    rows = [each for each in record(f"bf16_training{name}")["rows"] if each["model"] != "stock"]
    bf16 = [each for each in rows if each["model"].endswith("bf16")]
    fp32 = [each for each in rows if each not in bf16]
    lines = [
        row(f"{machine}, {form}", "1,500", *map(median_of, some))
        for form, some in (("bf16", bf16), ("fp32", fp32))
        if some
    ]
    lines.append(row("peak memory, bf16", "1,500", *(f"{each['peak against stock']:.2f}" for each in bf16)))
    assert set(lines) <= set(table(PERFORMANCE, "\n## Training"))


@pytest.mark.parametrize(
    ("name", "sentences", "compared"),
    [("jobs", "8,000", "as fast as one process for 8,000 sentences"), ("jobs_long", "24,000", "for 24,000")],
)
def test_processes_side_by_side(name: str, sentences: str, compared: str) -> None:
    rounds = record(name)["rounds"]
    ratios = [one["wall"] / several["wall"] for one, several in rounds]
    times = f"{median(one['wall'] for one, _ in rounds):.0f} s", f"{median(ratios):.2f} ({span(ratios)})"
    assert row(f"{sentences} ([record]({name}.json))", *times) in table(SPEED, "\n## Processes")
    says(PERFORMANCE, f"{median(ratios):.2f} times {compared}")
    assert len({run["sha256"] for runs in rounds for run in runs}) == 1


def test_core_hours_of_a_large_corpus() -> None:
    stages = {stage["stage"]: stage for stage in record("corpora")["stages"]}
    rows = []
    for method, moses in (("sentencepiece", "without"), ("moses_bpe", "with")):
        names = (f"read, clean, filter {moses} Moses", f"apply {method}", "data-bin")
        hours = [stages[name]["core_hours_for_en_fr"] for name in names]
        figures = [f"{hour:.2f}" for hour in (sum(hours), *hours)]
        rows.append(row(f"`{method}`", *figures, f"{stages[f'learn {method}']['seconds']:.0f} s"))
    assert table(CORPORA, "(results/corpora.json)") == rows


def test_what_bf16_costs_a_training() -> None:
    lines = []
    cells = [record(f"quickstart_{form}/results")["cells"] for form in ("fp32", "bf16")]
    for family in ("pre_ln", "admin", "realformer"):
        scores = [[cell["scores"] for cell in some if cell["family"] == family] for some in cells]
        losses = [[each["valid_loss"]["score"] for each in some] for some in scores]
        shown = [f"{fmean(some):.3f} ({span(some, '.3f')})" for some in losses]
        lines.append(row(family, *shown, *(f"{fmean(each['bleu']['score'] for each in some):.1f}" for some in scores)))
    assert table(SPEED, "\n## What bf16 costs") == lines


def test_cost_of_other_precisions() -> None:
    lines = []
    for (corpus, cell), rows in groupby(record("precisions")["bleu"], lambda row: (row["corpus"], row["cell"])):
        fp32, *lower = rows
        family, depth, _ = cell.split("-")
        same = ", ".join(f"{100 * each['same lines'] / each['lines']:.0f}%" for each in lower)
        lost = [f"{each['against fp32']:+.2f} (p {each['p']:.2f})" for each in lower]
        lines.append(row(f"{corpus}, `{family}` {depth}L", f"{fp32['bleu']:.2f} ± {fp32['interval']:.2f}", *lost, same))
    assert table(SPEED, "(precisions.json)") == lines


def test_cost_of_other_precisions_with_kernels_in_c() -> None:
    content = record("precisions_native")
    lost = {form: [row for row in content["rows"] if row["precision"] == form] for form in ("bf16", "int8")}
    rounded = fmean(row["against fp32"] for row in content["with rounded sums"])
    loss = f"bf16 loses {-fmean(row['against fp32'] for row in lost['bf16']):.2f} over all sixteen"
    says(SPEED, loss, f"ten models of the quickstart lost {-rounded:.2f}")
    says(PERFORMANCE, loss, f"ten models lost {-rounded:.2f} BLEU on average")
    layers = {
        "the quickstart": "6 and 18 layers",
        "the quickstart, longer": "18 layers",
        "Multi30k En-De": "6 layers, width 128",
    }
    lines = []
    for corpus, models in layers.items():
        of_corpus = {form: [each for each in rows if each["corpus"] == corpus] for form, rows in lost.items()}
        differences = [[each["against fp32"] for each in rows] for rows in of_corpus.values()]
        spans = [f"{fmean(some):+.2f} ({span(some, '+.2f')})" for some in differences]
        lines.append(row(f"{corpus}, {models}", len(differences[0]), f"{of_corpus['int8'][0]['lines']:,}", *spans))
    assert table(SPEED, "(precisions_native.json)") == lines


def test_shapes_of_batches() -> None:
    rows = [
        row(
            corpus["corpus"],
            f"`{cut['batching']}`" if cut["batching"].startswith("--") else cut["batching"],
            f"{cut['shapes']:,}",
            f"{100 * cut['padding']:.1f} %",
            f"{cut['real_tokens_a_batch']:,}",
        )
        for corpus in record("batch_shapes")["corpora"]
        for cut in corpus["rows"]
    ]
    assert table(PERFORMANCE, "(results/batch_shapes.json)") == rows


def test_speeds_on_a_gpu_beside_other_trainings() -> None:
    trainings = record("gpu_trainings")["trainings"]
    speeds: dict[tuple[str, str], list[float]] = {}
    for training in trainings:
        for beside, speed in training["updates_a_second"].items():
            speeds.setdefault((training["family"], beside), []).append(speed)
    rows = [
        row(beside, *(f"{fmean(speeds[name, beside]):.1f}" for name in ("pre_ln", "admin", "realformer")))
        for beside in ("3", "10", "22")
    ]
    assert table(PERFORMANCE, "(results/gpu_trainings.json)") == rows
    rates = [training["updates_a_second"] for training in trainings]
    lost = max(100 - 100 * rate["10"] / rate["3"] for rate in rates if {"3", "10"} <= rate.keys())
    says(PERFORMANCE, f"seven more trainings cost the others {lost:.0f} % at most")
    assert [beside["layers"] for beside in record("gpu_trainings")["beside"]] == [[36, 36]] * 10
