"""Speeds that pages tell, against their records."""

import json
import re
import statistics

from program import REPOSITORY

RESULTS = REPOSITORY / "docs" / "results"


def test_the_race_of_engines_is_the_records() -> None:
    page = (REPOSITORY / "docs" / "performance.md").read_text()
    section = page.partition("## Against another engine")[2].partition("\n## ")[0]
    files = ("engines", "engines_xeon", "engines_torch")
    record, xeon, earlier = (json.loads((RESULTS / f"{name}.json").read_text()) for name in files)
    rows = re.findall(r"^\| (\w[\w, ]*?) \| (\d.*) \|$", section, re.MULTILINE)
    shown = [ratio for _, ratios in rows for ratio in ratios.split(" | ")]
    races = record["speed"], earlier["speed"], xeon["speed"]
    assert [name for name, _ in rows] == [
        name for race in races for name in dict.fromkeys(row["engine"] for row in race)
    ]
    assert sorted(shown) == sorted(row["against stock"] for race in races for row in race)
    memory = {row["engine"]: row["of stock's weights"] for row in record["memory"]}
    assert f"{memory['post_ln, int8']:.2f} of stock's weights" in " ".join(page.split())
    assert f"CTranslate2 {record['versions']['ctranslate2']}" in " ".join(section.split())
    assert f"most) of {record['rounds']} rounds" in " ".join(section.split())
    before = {row["engine"]: row["against stock"][:4] for row in record["before"] if row["what"].startswith("62")}
    assert f"gave int8 {before['post_ln, int8']} and {before['realformer, int8']}\nfor 62 sentences before" in section
    assert f"{xeon['rounds']} rounds.\n[Record](results/engines_xeon.json)" in section
    alone = [row for row in record["speed"] if (row["threads"], row["engine"]) == (1, "realformer, int8")]
    ratios = {row["what"]: f"{float(row['against stock'].split()[0]):.1f} times" for row in alone}
    told = f"{ratios['62 sentences together']} as fast in batches, {ratios['single sentences']} sentence by sentence"
    assert told in (REPOSITORY / "README.md").read_text()


def test_what_is_said_of_the_race_with_amx_is_its_record() -> None:
    page, front = (" ".join((REPOSITORY / name).read_text().split()) for name in ("docs/performance.md", "README.md"))
    races = [json.loads((RESULTS / f"engines{which}.json").read_text()) for which in ("_xeon", "_families")]
    times, families = (
        {
            (row["what"][:2], row["engine"]): float(row["against stock"].split()[0])
            for row in race["speed"]
            if row["threads"] == 1
        }
        for race in races
    )
    ours, ctranslate2 = times["62", "realformer"], times["62", "CTranslate2"]
    assert f"fp32 has {ours:.2f} of 2.2, {ours / ctranslate2:.1f} times CTranslate2's" in page
    assert f"with AMX {ctranslate2:.2f} and {ours:.2f}" in page
    for family in ("post_ln", "realformer"):  # "reach their targets"
        assert times["62", family] >= 2.2
        assert min(times[what, f"{family}, int8"] for what in ("62", "si")) >= 4.5
    assert f"with AMX {times['62', 'realformer, int8']:.1f} and {times['si', 'realformer, int8']:.1f}" in front
    assert f"with AMX {ours:.1f} and {times['si', 'realformer']:.1f}" in front
    others = {key: ratio for key, ratio in families.items() if key[1].endswith(", int8") and "CTr" not in key[1]}
    least = {what: [ratio for (where, _), ratio in others.items() if where == what] for what in ("62", "si")}
    (few, many), (low, high) = ((min(ratios), max(ratios)) for ratios in least.values())
    assert f"{few} to {many} for 62 sentences, {low} to {high} for single ones" in page
    assert min(others.values()) >= 4.5
    memory = {row["engine"]: row["of stock's weights"] for row in races[0]["memory"]}
    assert f"forms: {memory['realformer']} of stock's weights in fp32" in page


def test_training_in_bf16_is_the_records() -> None:
    page = (REPOSITORY / "docs" / "performance.md").read_text()
    record, xeon = (json.loads((RESULTS / f"bf16_training{name}.json").read_text()) for name in ("", "_xeon"))
    rows, before = record["rows"], record["before dropout and loss in C"]
    told = {row["against stock"][:4] for row in before if row["what"] == "training 6L-6L" and row["model"] != "stock"}
    assert f"it was {told.pop()} for both at 6L-6L" in page
    assert not told
    for where in (rows, xeon["rows"]):
        wanted: dict[str, list[str]] = {}
        for row in where:
            if row["model"] != "stock":
                wanted.setdefault(row["what"], []).append(row["against stock"])
        for what, ratios in wanted.items():
            assert f"\n| {what} | {' | '.join(ratios)} |\n" in page


def test_a_server_under_load_is_the_records() -> None:
    page = (REPOSITORY / "docs" / "serving.md").read_text()
    record = json.loads((RESULTS / "serving.json").read_text())
    names = ("clients", "requests", "lost", "requests a second", "p50 ms", "p99 ms", "server's processor ms a request")
    rows = [" | ".join(f"{row[name]:,}" for name in names) for row in record["rows"]]
    assert re.findall(r"^\| (\d.*) \|$", page.partition("## Under load")[2], re.MULTILINE) == rows
    most = record["rows"][-1]
    assert most["requests"] >= 10_000
    assert all(row["as in Python"] == row["requests"] - row["lost"] for row in record["rows"])
    assert f"beam {record['beam']}" in page


def test_processes_side_by_side_are_the_records() -> None:
    page = (REPOSITORY / "docs" / "performance.md").read_text()
    medians, dearer = [], []
    for name, sentences in (("jobs", "8,000"), ("jobs_long", "24,000")):
        record = json.loads((RESULTS / f"{name}.json").read_text())
        ratios = [one["wall"] / several["wall"] for one, several in record["rounds"]]
        dearer += [100 * (several["processor"] / one["processor"] - 1) for one, several in record["rounds"]]
        alone = statistics.median(one["wall"] for one, _ in record["rounds"])
        medians.append(statistics.median(ratios))
        shown = f"{alone:.0f} s | {medians[-1]:.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |"
        assert f"| {sentences} ([record](results/{name}.json)) | {shown}\n" in page
        assert f"--input {sentences.replace(',', '')}.txt" in record["decoding"]
        assert len({run["sha256"] for runs in record["rounds"] for run in runs}) == 1
    assert f"{min(dearer):.0f} to {max(dearer):.0f} % more processor time" in page
    short, long = (f"{median:.1f}" for median in medians)
    said = f"{short} times as fast as one process, {long} for a long text"
    assert said in (REPOSITORY / "README.md").read_text()


def test_the_speed_of_shallow_decoders_is_the_records() -> None:
    page = " ".join((REPOSITORY / "recipes" / "distillation" / "README.md").read_text().split())
    record = json.loads((RESULTS / "distillation" / "speed.json").read_text())
    shown = re.findall(
        r"(\d+)L-(\d+)L translates single sentences (.+?) times as fast, (\d+) together (.+?) times", page
    )
    found = {(row["layers"], row["what"]): row["as fast"] for row in record["rows"]}
    assert [f"{encoder}-{decoder}" for encoder, decoder, *_ in shown] == ["12-1", "6-2"]
    for encoder, decoder, single, number, together in shown:
        layers = f"{encoder}-{decoder}"
        assert (single, together) == (found[layers, "single sentences"], found[layers, "together"])
        assert int(number) == record["sentences"]
