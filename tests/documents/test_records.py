"""The tables that introduce a record, against the record."""

import json
import re
import statistics

import pytest
from program import REPOSITORY

from realformer_nmt.common import sealed
from realformer_nmt.comparison.report.wording import probability

RESULTS = REPOSITORY / "docs" / "results"
FORMS = ("fp32", "bf16")
NAMES = sorted(file.parent.name for file in RESULTS.glob("multi30k*/results.json"))


@pytest.mark.parametrize("name", NAMES)
def test_every_score_is_that_of_its_cell(name: str) -> None:
    table = re.findall(r"^\| `(\w+)` \| (\S+)", (RESULTS / name / "README.md").read_text(), re.MULTILINE)
    cells = json.loads((RESULTS / name / "results.json").read_text())["cells"]
    scored = {cell["family"]: cell["scores"].get("bleu") for cell in cells}
    assert dict(table) == {family: f"{found['score']:.2f}" if found else "failed" for family, found in scored.items()}


@pytest.mark.parametrize("page", ["README.md", "recipes/quickstart/README.md"])
def test_every_score_of_the_quickstart_is_that_of_its_cell(page: str) -> None:
    table = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| (failed|[\d.]+)", (REPOSITORY / page).read_text(), re.MULTILINE)
    shown = {(family, depth): score for family, *both in table for depth, score in zip(("6", "18"), both, strict=True)}
    cells = json.loads((RESULTS / "quickstart" / "results.json").read_text())["cells"]
    scored = {(cell["family"], str(cell["depth"])): cell["scores"].get("bleu") for cell in cells}
    assert shown == {key: f"{found['score']:.1f}" if found else "failed" for key, found in scored.items()}


def test_cost_of_other_precisions_is_the_record() -> None:
    page = (REPOSITORY / "docs" / "performance.md").read_text()
    record = json.loads((RESULTS / "precisions.json").read_text())
    section = page.partition("## Other precisions")[2].partition("\n## ")[0].replace("\N{MINUS SIGN}", "-")
    costs = [f"{row['against fp32']:+.2f} (p {row['p']:.2f})" for row in record["bleu"] if row["p"] is not None]
    assert sorted(re.findall(r"[+-]\d\.\d\d \(p \d\.\d\d\)", section)) == sorted(costs)


def test_cost_of_other_precisions_with_kernels_in_c_is_the_record() -> None:
    page = (REPOSITORY / "docs" / "performance.md").read_text().replace("\N{MINUS SIGN}", "-")
    record = json.loads((RESULTS / "precisions_native.json").read_text())
    rows = record["rows"]
    lost = statistics.mean(row["against fp32"] for row in rows if row["precision"] == "bf16")
    assert f"bf16 loses {-lost:.2f} over all sixteen" in page
    rounded = statistics.mean(row["against fp32"] for row in record["with rounded sums"])
    assert f"ten of the quickstart's lost {-rounded:.2f}" in page
    for corpus in {row["corpus"] for row in rows}:
        own = [row for row in rows if row["corpus"] == corpus]
        cells = [f"{len({row['cell'] for row in own})} | {own[0]['lines']:,}"]
        for precision in ("bf16", "int8"):
            lost = [row["against fp32"] for row in own if row["precision"] == precision]
            cells.append(f"{statistics.mean(lost):+.2f} ({min(lost):+.2f} to {max(lost):+.2f})")
        assert re.search(rf"^\| {corpus}, \d[^|]*\| {re.escape(' | '.join(cells))} \|$", page, re.MULTILINE), corpus
    assert min(row["p"] for row in rows if row["p"] is not None) > 0.05


def test_what_is_begun_of_multi30k_is_its_record() -> None:
    page = (RESULTS / "multi30k_128" / "README.md").read_text()
    cells = json.loads((RESULTS / "multi30k_128" / "begun.json").read_text())["cells"]
    scores = {cell["family"]: [cell["scores"][name]["score"] for name in ("bleu", "valid_loss")] for cell in cells}
    assert {(cell["settings"]["max_update"], cell["settings"]["dropout"]) for cell in cells} == {(2000, 0.1)}
    shown = {f"| `{family}` | {bleu:.2f} | {loss:.2f} |" for family, (bleu, loss) in scores.items()}
    assert set(re.findall(r"^\| `.*$", page, re.MULTILINE)) == shown


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


def test_what_bf16_costs_a_training_is_the_records() -> None:
    section = (
        (REPOSITORY / "docs" / "performance.md").read_text().partition("## What bf16 costs")[2].partition("\n## ")[0]
    )
    rows = re.findall(r"^\| (\w+) \| (.+) \| (.+) \| (.+) \| (.+) \|$", section, re.MULTILINE)
    cells = {name: json.loads((RESULTS / f"quickstart_{name}" / "results.json").read_text())["cells"] for name in FORMS}
    assert {name: {cell["settings"]["precision"] for cell in cells[name]} for name in FORMS} == {x: {x} for x in FORMS}
    assert {family for family, *_ in rows} == {cell["family"] for cell in cells["fp32"]}
    lower, deviations = 0, []
    for family, *shown in rows:
        scores = [[cell["scores"] for cell in cells[name] if cell["family"] == family] for name in FORMS]
        losses = [[each["valid_loss"]["score"] for each in some] for some in scores]
        told = [f"{statistics.mean(some):.3f} ({min(some):.3f} to {max(some):.3f})" for some in losses]
        assert shown == [*told, *(f"{statistics.mean(each['bleu']['score'] for each in some):.1f}" for some in scores)]
        lower += sum(ours < theirs for theirs, ours in zip(*losses, strict=True))
        deviations.append(statistics.stdev(losses[0]))
        assert 0 < statistics.mean(losses[1]) - statistics.mean(losses[0]) < deviations[-1]
    assert f"({min(deviations):.3f} to {max(deviations):.3f} bits)" in section
    assert (lower, sum(map(len, cells.values()))) == (3, 18)


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


@pytest.mark.parametrize("recipe", ["fine_tuning", "back_translation", "distillation"])
def test_what_a_recipe_gained_is_its_records(recipe: str) -> None:
    """Of each comparison the score, and that of its baseline, which is the score less the difference."""
    files = sorted((RESULTS / recipe).glob("significance*.json"))
    tests = [row for file in files for row in json.loads(file.read_text())["comparisons"]]
    scores = {f"{score:.2f}" for row in tests for score in (row["score"], row["score"] - row["difference"])}
    page = (REPOSITORY / "recipes" / recipe / "README.md").read_text()
    table = re.findall(r"^\|.*\|$", page, re.MULTILINE)
    assert set(re.findall(r"\b\d+\.\d\d\b", "".join(table))) == scores


def test_what_exported_models_wrote_is_the_records() -> None:
    page = (REPOSITORY / "docs" / "exporting.md").read_text()
    shown = re.findall(r"^\| `([\w-]+)` \| ([\w ]+) \| (fp32|int8) \| ([\d.]+) \| (\d+) \|$", page, re.MULTILINE)
    rows = json.loads((RESULTS / "exports.json").read_text())["rows"]
    wanted = ("model", "engine", "precision", "bleu", "equal")
    assert shown == [tuple(f"{row[name]:.2f}" if name == "bleu" else str(row[name]) for name in wanted) for row in rows]


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


def test_perplexities_are_the_records_of_so_many_updates() -> None:
    page = (REPOSITORY / "recipes" / "language_model" / "README.md").read_text()
    table = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \|$", page, re.MULTILINE)
    shown = {(family, depth): number for family, *both in table for depth, number in zip((4, 24), both, strict=True)}
    found = {}
    for file in (RESULTS / "language_model").glob("*.json"):
        record = sealed.read(file, "")
        family, model = record["model"]["arch"].removesuffix("_lm_tiny"), record["model"]
        assert record["model"]["sha256"] == record["made_from"]["inputs"]["checkpoint"]["sha256"]
        assert file.stem == f"{family}-{model['decoder_layers']}-{model['updates']}"
        found[family, model["decoder_layers"]] = f"{record['measures']['perplexity']:.2f}"
        assert f"{model['updates']} updates" in page
    assert shown == found


def test_masked_accuracies_are_the_records() -> None:
    """Of each family at each depth: accuracy and perplexity, and p where it is told."""
    page = (REPOSITORY / "recipes" / "bert" / "README.md").read_text().partition("## What came out")[2]
    shown = set(re.findall(r"^\| `(\w+)` \| (\d+) \| ([\d.]+) \| ([\d.]+) \| (.+?) \|$", page, re.MULTILINE))
    record = json.loads((RESULTS / "bert" / "results.json").read_text())
    names = ("masked_accuracy", "perplexity")
    assert shown == {
        (row["family"], row["depth"], *(f"{row['scores'][name]['mean']:.2f}" for name in names), probability(row))
        for row in record["rows"]
    }
    assert len({cell["versions"]["commit"] for cell in record["cells"]}) == 1
