"""The tables that introduce a record, against the record."""

import json
import re
import statistics
from pathlib import Path

import pytest
from grids import recorded
from programs.program import REPOSITORY

from realformer_nmt.common.files import checksummed_json
from realformer_nmt.comparison.report.formatting import probability
from realformer_nmt.comparison.results import results_file

RESULTS = REPOSITORY / "docs" / "results"
FORMS = ("fp32", "bf16")
NAMES = sorted(file.parent.name for file in RESULTS.glob("multi30k*/results.json"))


@pytest.mark.parametrize("name", NAMES)
def test_every_score_is_that_of_its_cell(name: str) -> None:
    table = re.findall(r"^\| `(\w+)` \| (\S+)", (RESULTS / name / "README.md").read_text(), re.MULTILINE)
    cells = json.loads((RESULTS / name / "results.json").read_text())["cells"]
    scored = {cell["family"]: cell["scores"].get("bleu") for cell in cells}
    assert dict(table) == {family: f"{bleu['score']:.2f}" if bleu else "failed" for family, bleu in scored.items()}


@pytest.mark.parametrize("file", recorded.comparisons_on_record(), ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_speeds_and_hours_of_a_row_are_medians_of_the_cells_on_record(file: Path) -> None:
    record = results_file.read(file)
    for row in [row for row in record.rows if row.cells]:  # the oldest rows name no cells
        cells = [cell for cell in record.cells if cell.name in row.cells]
        done = [cell for cell in cells if cell.state == "done"] or cells
        for name, counted in (("tokens_a_second", cells), ("hours", done)):
            values = [getattr(cell, name) for cell in counted if getattr(cell, name) is not None]
            assert getattr(row, name) == (statistics.median(values) if values else None)


def test_every_score_of_the_quickstart_is_that_of_its_cell() -> None:
    page = (REPOSITORY / "README.md").read_text()
    families, *table = re.findall(r"^\| (?:sacreBLEU|(?:6|18)L-.*?) \| (.*) \|$", page, re.MULTILINE)
    shown = {
        (family.strip("`"), depth): score.split(",")[0]
        for depth, scores in zip(("6", "18"), table, strict=True)
        for family, score in zip(families.split(" | "), scores.split(" | "), strict=True)
    }
    cells = json.loads((RESULTS / "quickstart" / "results.json").read_text())["cells"]
    scored = {(cell["family"], str(cell["depth"])): cell["scores"].get("bleu") for cell in cells}
    assert shown == {key: f"{bleu['score']:.1f}" if bleu else "failed" for key, bleu in scored.items()}


def test_cost_of_other_precisions_is_the_record() -> None:
    page = (RESULTS / "speed.md").read_text()
    record = json.loads((RESULTS / "precisions.json").read_text())
    section = page.partition("## What other precisions cost")[2].partition("\n## ")[0].replace("\N{MINUS SIGN}", "-")
    costs = [f"{row['against fp32']:+.2f} (p {row['p']:.2f})" for row in record["bleu"] if row["p"] is not None]
    assert sorted(re.findall(r"[+-]\d\.\d\d \(p \d\.\d\d\)", section)) == sorted(costs)


def test_cost_of_other_precisions_with_kernels_in_c_is_the_record() -> None:
    page = (RESULTS / "speed.md").read_text().replace("\N{MINUS SIGN}", "-")
    short = " ".join((REPOSITORY / "docs" / "performance.md").read_text().split())
    record = json.loads((RESULTS / "precisions_native.json").read_text())
    rows = record["rows"]
    lost = statistics.mean(row["against fp32"] for row in rows if row["precision"] == "bf16")
    assert f"bf16 loses {-lost:.2f} over all sixteen" in page
    assert f"bf16 loses {-lost:.2f} over all sixteen" in short
    rounded = statistics.mean(row["against fp32"] for row in record["with rounded sums"])
    assert f"ten models of the quickstart lost {-rounded:.2f}" in page
    assert f"ten models lost {-rounded:.2f} BLEU on average" in short
    for corpus in {row["corpus"] for row in rows}:
        corpus_rows = [row for row in rows if row["corpus"] == corpus]
        cells = [f"{len({row['cell'] for row in corpus_rows})} | {corpus_rows[0]['lines']:,}"]
        for precision in ("bf16", "int8"):
            lost = [row["against fp32"] for row in corpus_rows if row["precision"] == precision]
            cells.append(f"{statistics.mean(lost):+.2f} ({min(lost):+.2f} to {max(lost):+.2f})")
        assert re.search(rf"^\| {corpus}, \d[^|]*\| {re.escape(' | '.join(cells))} \|$", page, re.MULTILINE), corpus
    assert min(row["p"] for row in rows if row["p"] is not None) > 0.05


def test_what_bf16_costs_a_training_is_the_records() -> None:
    section = (RESULTS / "speed.md").read_text().partition("## What bf16 costs")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\w+) \| (.+) \| (.+) \| (.+) \| (.+) \|$", section, re.MULTILINE)
    cells = {name: results_file.read(RESULTS / f"quickstart_{name}" / "results.json").cells for name in FORMS}
    assert {name: {cell.settings["precision"] for cell in cells[name]} for name in FORMS} == {x: {x} for x in FORMS}
    assert {family for family, *_ in rows} == {cell.family for cell in cells["fp32"]}
    lower, deviations = 0, []
    for family, *shown in rows:
        scores = [[cell.scores for cell in cells[name] if cell.family == family] for name in FORMS]
        losses = [[each["valid_loss"].score for each in some] for some in scores]
        ranges = [f"{statistics.mean(some):.3f} ({min(some):.3f} to {max(some):.3f})" for some in losses]
        assert shown == [
            *ranges,
            *(f"{statistics.mean(each['bleu'].score for each in some):.1f}" for some in scores),
        ]
        lower += sum(bf16 < fp32 for fp32, bf16 in zip(*losses, strict=True))
        deviations.append(statistics.stdev(losses[0]))
        assert 0 < statistics.mean(losses[1]) - statistics.mean(losses[0]) < deviations[-1]
    assert f"({min(deviations):.3f} to {max(deviations):.3f} bits)" in section
    assert (lower, sum(map(len, cells.values()))) == (3, 18)


@pytest.mark.parametrize("recipe", ["fine_tuning", "back_translation", "distillation"])
def test_what_a_recipe_gained_is_its_records(recipe: str) -> None:
    """The table has each comparison's score and its baseline's, which is the score less the difference."""
    files = sorted((RESULTS / recipe).glob("significance*.json"))
    tests = [row for file in files for row in json.loads(file.read_text())["comparisons"]]
    scores = {f"{score:.2f}" for row in tests for score in (row["score"], row["score"] - row["difference"])}
    page = (RESULTS / recipe / "README.md").read_text()
    table = re.findall(r"^\|.*\|$", page, re.MULTILINE)
    assert set(re.findall(r"\b\d+\.\d\d\b", "".join(table))) == scores


def test_what_exported_models_wrote_is_the_records() -> None:
    page = (RESULTS / "exports.md").read_text()
    shown = re.findall(r"^\| `([\w-]+)` \| ([\w ]+) \| (fp32|int8) \| ([\d.]+) \| (\d+) \|$", page, re.MULTILINE)
    rows = json.loads((RESULTS / "exports.json").read_text())["rows"]
    fields = ("model", "engine", "precision", "bleu", "equal")
    assert shown == [tuple(f"{row[name]:.2f}" if name == "bleu" else str(row[name]) for name in fields) for row in rows]
    equal = {form: sorted(row["equal"] for row in rows if row["precision"] == form) for form in ("fp32", "int8")}
    assert set(equal["fp32"]) == {500}
    guide = " ".join((REPOSITORY / "docs" / "exporting.md").read_text().split())
    fewest, *_, most = equal["int8"]
    assert f"In int8 CTranslate2 and ONNX give the same translation for {fewest} to {most} of them" in guide
    named = {
        "ctranslate2": "CTranslate2",
        "huggingface": "Hugging Face",
        "onnx": "ONNX",
        "this package": "this package",
    }
    assert {row["engine"] for row in rows} == named.keys()
    assert all(name in guide.partition("In fp32 ")[2].partition("## ")[0] for name in named.values())


def test_perplexities_are_the_records_of_so_many_updates() -> None:
    page = (RESULTS / "language_model" / "README.md").read_text()
    table = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \|$", page, re.MULTILINE)
    shown = {(family, depth): number for family, *both in table for depth, number in zip((4, 24), both, strict=True)}
    perplexities = {}
    for file in (RESULTS / "language_model").glob("*.json"):
        record = checksummed_json.read(file, "")
        family, model = record["model"]["arch"].removesuffix("_lm_tiny"), record["model"]
        assert record["model"]["sha256"] == record["made_from"]["inputs"]["checkpoint"]["sha256"]
        assert file.stem == f"{family}-{model['decoder_layers']}-{model['updates']}"
        perplexities[family, model["decoder_layers"]] = f"{record['measures']['perplexity']:.2f}"
        assert f"{model['updates']} updates" in page
    assert shown == perplexities


def test_masked_accuracies_are_the_records() -> None:
    """The table has accuracy and perplexity of each family at each depth, and p where it is told."""
    page = (RESULTS / "bert" / "README.md").read_text().partition("## What came out")[2]
    shown = set(re.findall(r"^\| `(\w+)` \| (\d+) \| ([\d.]+) \| ([\d.]+) \| (.+?) \|$", page, re.MULTILINE))
    record = results_file.read(RESULTS / "bert" / "results.json")
    names = ("masked_accuracy", "perplexity")
    assert shown == {
        (row.family, row.depth, *(f"{row.scores[name].mean:.2f}" for name in names), probability(row))
        for row in record.rows
    }
    assert len({cell.versions["commit"] for cell in record.cells}) == 1


def test_the_late_seed_is_the_records() -> None:
    folder = RESULTS / "quickstart_longer"
    page = (folder / "README.md").read_text()
    table = re.findall(
        r"^\| (1e-\d)[^|]* \| (no|[\d.]+) \| ([\d.]*) ?\| ([\d.]*) ?\| ([\d.]*) ?\|$", page, re.MULTILINE
    )
    shown = {
        (float(rate), 0.0 if norm == "no" else float(norm), seed): loss
        for rate, norm, *losses in table
        for seed, loss in enumerate(losses, 1)
        if loss
    }
    rows = json.loads((folder / "late_seed.json").read_text())["rows"]
    measured = {(row["warmup_init_lr"], row["clip_norm"], row["seed"]): f"{row['valid_loss']:.2f}" for row in rows}
    for cell in json.loads((folder / "results.json").read_text())["cells"]:
        if cell["family"] == "realformer" and cell["axes"]["updates"] == 750:
            measured[1e-7, 0.0, cell["seed"]] = f"{cell['scores']['valid_loss']['score']:.2f}"
    assert shown == measured


def test_what_the_seeds_of_the_longer_demo_had_before_and_have_now() -> None:
    folder = RESULTS / "quickstart_longer"
    page = " ".join((folder / "README.md").read_text().split())
    scores: dict[tuple[str, int], list[float]] = {}
    for row in json.loads((folder / "late_seed.json").read_text())["before"]["rows"]:
        scores.setdefault((row["family"], row["updates"]), []).append(row["bleu"])
    early, late = (scores["realformer", updates] for updates in (375, 1500))
    claim = f"({statistics.mean(early):.1f} \u00b1 {statistics.stdev(early):.1f} after 375; "
    assert f"{claim}{statistics.mean(late):.2f} \u00b1 {statistics.stdev(late):.2f} after 1,500)" in page
    behind = [scores["pre_ln", 750][1] - scores[family, 750][1] for family in ("realformer", "admin")]
    assert min(behind) > 30
    rows = results_file.read(folder / "results.json").rows
    spread = max(row.scores["bleu"].deviation or 0 for row in rows if row.axes["updates"] == 1500)
    assert f"further apart than {spread:.1f} BLEU (deviation)" in page
