"""Speeds that pages tell, against their records."""

import json
import re
import statistics
from typing import Any

import pytest
from programs.program import REPOSITORY

RESULTS = REPOSITORY / "docs" / "results"


SPEEDS, SUMMARY, FRONT = (
    (REPOSITORY / page).read_text() for page in ("docs/results/speed.md", "docs/performance.md", "README.md")
)


def record_of(name: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return record


def unwrapped(page: str) -> str:
    return " ".join(page.split())


def summary_rows(heading: str) -> dict[str, list[str]]:
    """Return the cells of the table below a heading of docs/performance.md, by the first cell of each row."""
    section = SUMMARY.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("|")]
    return {first: rest for first, *rest in rows[2:]}


def median_of(row: dict[str, Any]) -> str:
    return str(row["against stock"]).split()[0]


def test_the_race_of_engines_is_the_records() -> None:
    section = SPEEDS.partition("## Against another engine")[2].partition("\n## ")[0]
    record, xeon, earlier = map(record_of, ("engines", "engines_xeon", "engines_torch"))
    rows = re.findall(r"^\| (\w[\w, ]*?) \| (\d.*) \|$", section, re.MULTILINE)
    shown = [ratio for _, ratios in rows for ratio in ratios.split(" | ")]
    races = record["speed"], earlier["speed"], xeon["speed"]
    assert [name for name, _ in rows] == [
        name for race in races for name in dict.fromkeys(row["engine"] for row in race)
    ]
    assert sorted(shown) == sorted(row["against stock"] for race in races for row in race)
    section = unwrapped(section)
    assert f"CTranslate2 {record['versions']['ctranslate2']}" in section
    assert f"most) of {record['rounds']} rounds. On the EPYC ([record](engines.json))" in section
    before = {row["engine"]: row["against stock"][:4] for row in record["before"] if row["what"].startswith("62")}
    post_ln, realformer = before["post_ln, int8"], before["realformer, int8"]
    assert f"gave int8 {post_ln} (`post_ln`) and {realformer} (`realformer`) for 62 sentences" in section
    assert f"On the Xeon, {xeon['rounds']} rounds ([record](engines_xeon.json))" in section
    alone = [row for row in record["speed"] if (row["threads"], row["engine"]) == (1, "realformer, int8")]
    ratios = {row["what"]: f"{float(median_of(row)):.1f} times" for row in alone}
    claim = f"[decodes {ratios['62 sentences together']} as fast as stock](docs/performance.md) in int8"
    assert claim in unwrapped(FRONT)


def test_decoding_in_short_is_the_race_on_one_thread() -> None:
    """Medians of both machines, and the memory on the first."""
    engines = {
        "fp32": "post_ln",
        "bf16": "post_ln, bf16",
        "int8": "post_ln, int8",
        "int8, `realformer`": "realformer, int8",
        "CTranslate2 4.8.5, fp32": "CTranslate2",
        "CTranslate2 4.8.5, int8": "CTranslate2, int8",
    }
    records = [record_of(name) for name in ("engines", "engines_xeon")]
    medians = {
        (place, row["engine"], row["what"]): median_of(row)
        for place, record in enumerate(records)
        for row in record["speed"]
        if row["threads"] == 1
    }
    ratios = {row["engine"]: row["of stock's weights"] for row in records[0]["memory"]}
    memory = {engine: f"{ratio:.2f}" for engine, ratio in ratios.items()}
    whats = [(place, what) for place in (0, 1) for what in ("62 sentences together", "single sentences")]
    assert summary_rows("Decoding") == {
        shown: [*(medians[place, engine, what] for place, what in whats), memory.get(engine, "")]
        for shown, engine in engines.items()
    }


def test_what_carried_scores_cost_a_long_sentence_is_the_page_of_speeds() -> None:
    shown = dict(re.findall(r"^\| 6 \| ([\d,]+) \| [\d,]+ \| ([\d.]+) ", SPEEDS, re.MULTILINE))
    assert f"{shown['512']} of `post_ln`'s speed at 512 words and {shown['1,024']} at 1,024" in unwrapped(SUMMARY)


def test_training_in_short_is_the_records() -> None:
    rows = summary_rows("Training")
    for name, line in (("", "EPYC, {}"), ("_xeon", "Xeon with AMX, {}")):
        record = record_of(f"bf16_training{name}")
        ratios: dict[str, list[str]] = {}
        for row in record["rows"]:
            model, _, precision = row["model"].partition(", ")
            if model != "stock":
                ratios.setdefault(line.format(precision or "fp32"), []).append(median_of(row))
        for shown, medians in ratios.items():
            assert rows[shown] == [f"{record['tokens']:,}", *medians]
        peaks = [row["peak against stock"] for row in record["rows"] if row["model"].endswith(", bf16")]
        assert rows["peak memory, bf16"] == ["1,500", *(f"{peak:.2f}" for peak in peaks)]


def test_what_is_said_of_the_race_with_amx_is_its_record() -> None:
    races = [record_of("engines_xeon"), record_of("engines_families")]
    times, families = (
        {(row["what"][:2], row["engine"]): float(median_of(row)) for row in race["speed"] if row["threads"] == 1}
        for race in races
    )
    realformer, ctranslate2 = times["62", "realformer"], times["62", "CTranslate2"]
    claim = f"fp32 with AMX is {realformer:.2f} times as fast as stock for a `realformer` in batches, "
    assert f"{claim}{realformer / ctranslate2:.1f} times as fast as CTranslate2" in unwrapped(SUMMARY)
    for family in ("post_ln", "realformer"):
        assert times["62", family] >= 2.2
        assert min(times[what, f"{family}, int8"] for what in ("62", "si")) >= 4.5
    int8_ratios = {key: ratio for key, ratio in families.items() if key[1].endswith(", int8") and "CTr" not in key[1]}
    least = {what: [ratio for (where, _), ratio in int8_ratios.items() if where == what] for what in ("62", "si")}
    (few, many), (low, high) = ((min(ratios), max(ratios)) for ratios in least.values())
    assert f"{few} to {many} for 62 sentences, {low} to {high} for single ones" in unwrapped(SPEEDS)
    assert min(int8_ratios.values()) >= 4.5
    memory = {row["engine"]: row["of stock's weights"] for row in races[0]["memory"]}
    assert f"two forms of its weights: {memory['realformer']} of stock's memory" in unwrapped(SPEEDS)


def test_training_in_bf16_is_the_records() -> None:
    record, xeon = (record_of(f"bf16_training{name}") for name in ("", "_xeon"))
    rows, before = record["rows"], record["before dropout and loss in C"]
    speeds = {row["against stock"][:4] for row in before if row["what"] == "training 6L-6L" and row["model"] != "stock"}
    assert f"it was {speeds.pop()} for both at 6L-6L" in unwrapped(SPEEDS)
    assert not speeds
    for where in (rows, xeon["rows"]):
        expected: dict[str, list[str]] = {}
        for row in where:
            if row["model"] != "stock":
                expected.setdefault(row["what"], []).append(row["against stock"])
        for what, ratios in expected.items():
            assert f"\n| {what} | {' | '.join(ratios)} |\n" in SPEEDS


def test_a_server_under_load_is_the_records() -> None:
    page = (RESULTS / "serving.md").read_text()
    record = json.loads((RESULTS / "serving.json").read_text())
    names = ("clients", "requests", "lost", "requests a second", "p50 ms", "p99 ms", "server's processor ms a request")
    rows = [" | ".join(f"{row[name]:,}" for name in names) for row in record["rows"]]
    assert re.findall(r"^\| (\d.*) \|$", page, re.MULTILINE) == rows
    most = record["rows"][-1]
    assert most["requests"] >= 10_000
    assert all(row["as in Python"] == row["requests"] - row["lost"] for row in record["rows"])
    assert f"beam {record['beam']}" in page


def test_time_and_memory_of_a_data_bin_are_the_records() -> None:
    page = (REPOSITORY / "docs" / "corpora.md").read_text()
    runs: dict[str, dict[str, str]] = {}
    for row in record_of("binarising")["rows"]:
        runs.setdefault(f"{row['pairs']:,}", {})[row["what"]] = f"{row['seconds']} s, {row['megabytes']} MB"
    for pairs, costs in runs.items():
        assert f"\n| {pairs} | {costs['prepare']} | {costs.get('fairseq-preprocess', '')}".rstrip() in page
    assert len(runs) == 4
    peaks = [row["megabytes"] for row in record_of("binarising")["rows"] if row["what"] == "prepare"]
    assert peaks[-1] < 1.1 * peaks[1]  # four times the pairs


def test_processes_side_by_side_are_the_records() -> None:
    medians, dearer = [], []
    for name, sentences in (("jobs", "8,000"), ("jobs_long", "24,000")):
        record = record_of(name)
        ratios = [one["wall"] / several["wall"] for one, several in record["rounds"]]
        dearer += [100 * (several["processor"] / one["processor"] - 1) for one, several in record["rounds"]]
        alone = statistics.median(one["wall"] for one, _ in record["rounds"])
        medians.append(statistics.median(ratios))
        shown = f"{alone:.0f} s | {medians[-1]:.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |"
        assert f"| {sentences} ([record]({name}.json)) | {shown}\n" in SPEEDS
        assert f"--input {sentences.replace(',', '')}.txt" in record["decoding"]
        assert len({run["sha256"] for runs in record["rounds"] for run in runs}) == 1
    assert f"{min(dearer):.0f} to {max(dearer):.0f} % more processor time" in unwrapped(SPEEDS)
    short, long = (f"{median:.2f}" for median in medians)
    claim = f"{short} times as fast as one process for 8,000 sentences, {long} times for 24,000"
    assert claim in unwrapped(SUMMARY)


def test_the_speed_of_shallow_decoders_is_the_records() -> None:
    page = " ".join((RESULTS / "distillation" / "README.md").read_text().split())
    record = json.loads((RESULTS / "distillation" / "speed.json").read_text())
    shown = re.findall(
        r"(\d+)L-(\d+)L translates single sentences (.+?) times as fast, (\d+) together (.+?) times", page
    )
    speeds = {(row["layers"], row["what"]): row["as fast"] for row in record["rows"]}
    assert [f"{encoder}-{decoder}" for encoder, decoder, *_ in shown] == ["12-1", "6-2"]
    for encoder, decoder, single, number, together in shown:
        layers = f"{encoder}-{decoder}"
        assert (single, together) == (speeds[layers, "single sentences"], speeds[layers, "together"])
        assert int(number) == record["sentences"]


def ratios_of_families(name: str) -> dict[str, list[str]]:
    """Return the medians of each family in a record: training, its peak memory, two ways to decode."""
    medians: dict[str, list[str]] = {}
    for row in record_of(name)["rows"]:
        if row["model"] != "stock":
            ratios = [f"{row['against stock'][0]:.2f}"]
            ratios += [f"{row['peak against stock']:.2f}"] if row["what"].startswith("training") else []
            medians.setdefault(row["model"], []).extend(ratios)
    return medians


@pytest.mark.parametrize("name", ["families", "families_more"])
def test_the_speed_of_every_residual_is_the_records(name: str) -> None:
    section = SPEEDS.partition(f"[record]({name}.json)")[2].partition("\n## ")[0].partition("[record]")[0]
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in re.findall(r"^\| \w.*\|$", section, re.MULTILINE)
    ]
    assert {first: rest for first, *rest in rows} == ratios_of_families(name)


def test_what_was_measured_without_kernels_is_said() -> None:
    assert record_of("families_more")["environment"]["kernels in C"] is False
    section = unwrapped(SPEEDS).partition("[record](families_more.json)")[0]
    assert "without AVX-512, where the [kernels in C](../performance.md#kernels-in-c) do not run (" in section[-150:]


def test_which_residuals_train_more_slowly_than_stock_is_the_records() -> None:
    medians = {**ratios_of_families("families_more"), **ratios_of_families("families")}
    slower = {family for family, (training, *_) in medians.items() if float(training) < 1}
    assert slower == {"hyper", "hyper_static", "mhc", "attn_res", "rk2"}
    speeds = sorted(float(medians[family][0]) for family in slower)
    residuals = unwrapped((REPOSITORY / "docs" / "residuals.md").read_text())
    assert f"have {speeds[0]:.1f} to {speeds[-1]:.1f} of its speed" in residuals
    assert all(f"`{family}`" in page for family in slower for page in (SPEEDS, residuals))


def test_the_core_hours_of_a_large_corpus_are_the_records() -> None:
    page = unwrapped((REPOSITORY / "docs" / "corpora.md").read_text())
    stages = {row["stage"]: row for row in record_of("corpora")["stages"]}
    hours = {name: row["core_hours_for_en_fr"] for name, row in stages.items() if "core_hours_for_en_fr" in row}
    for method, moses in (("sentencepiece", "without"), ("moses_bpe", "with")):
        parts = [hours[name] for name in (f"read, clean, filter {moses} Moses", f"apply {method}", "data-bin")]
        seconds = stages[f"learn {method}"]["seconds"]
        figures = [f"{hour:.2f}" for hour in (sum(parts), *parts)]
        assert f"| {' | '.join([f'`{method}`', *figures, f'{seconds:.0f} s'])} |" in page
