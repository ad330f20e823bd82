"""The tables, plot and sentences about docs/results/multi30k_128, here and on other pages, are those of its records."""

import json
import re
import runpy
import statistics
from pathlib import Path
from typing import Any

import pytest
from grids.grid_cells import cells_of as cells_of_grid
from msgspec import convert
from programs.program import REPOSITORY
from scipy.stats import ttest_ind

from realformer_nmt.analysis.claims import TABLES, ClaimsRecord
from realformer_nmt.comparison.grid import grid as grids

FOLDER = REPOSITORY / "docs" / "results" / "multi30k_128"
PAGE = (FOLDER / "README.md").read_text()
WORDS = " ".join(PAGE.split())
WHY_PRE_LN_LEADS = " ".join((REPOSITORY / "docs" / "why_pre_ln_leads.md").read_text().split())
MEASURES = {"sacreBLEU": "bleu", "bits": "valid_loss"}
Cell = dict[str, Any]


def cells_of(records: str) -> list[Cell]:
    return [cell for file in sorted(FOLDER.glob(f"{records}.json")) for cell in json.loads(file.read_text())["cells"]]


LONGER = cells_of("longer*")


def lines_of(table: str) -> list[list[str]]:
    """Return the lines of a table, the first of which is its head."""
    head, _, *lines = PAGE.partition(f"<!-- table {table} -->")[2].partition("<!-- end -->")[0].strip().splitlines()
    return [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in (head, *lines)]


def scores_of(family: str, metric: str) -> list[float]:
    """Return the scores of a family's longer trainings in the order of its seeds."""
    cells = sorted((cell for cell in LONGER if cell["family"] == family), key=lambda cell: int(cell["seed"]))
    assert [cell["seed"] for cell in cells] == list(range(1, len(cells) + 1))
    return [cell["scores"][metric]["score"] for cell in cells]


def losses_of(family: str) -> dict[int, list[float]]:
    """Return the validation losses of a family's longer trainings after each epoch."""
    losses: dict[int, list[float]] = {}
    for point in (point for cell in LONGER if cell["family"] == family for point in cell["curves"]["valid"]):
        losses.setdefault(point["update"], []).append(point["nll_loss"])
    return losses


def mean_of(values: list[float]) -> str:
    return f"{statistics.fmean(values):.2f}" + (f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else "")


def groups(cells: list[Cell], *names: str) -> dict[tuple[Any, ...], list[Cell]]:
    grouped: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        grouped.setdefault(tuple((cell | cell["axes"])[name] for name in names), []).append(cell)
    return grouped


@pytest.mark.parametrize(("name", "records"), [("short", "short"), ("longer", "longer*"), ("rates", "rates")])
def test_the_page_says_how_many_cells_of_each_grid_are_trained(name: str, records: str, tmp_path: Path) -> None:
    trained = {cell["name"] for cell in cells_of(records)}
    planned = {cell.name for cell in cells_of_grid(grids.load(FOLDER / f"{name}.toml"), tmp_path)}
    assert trained <= planned
    row = rf"^\| \[{name}\.toml\]\({name}\.toml\) \| .* \| {len(trained)} of {len(planned)} \| "
    assert re.search(row, PAGE, re.MULTILINE)
    for file in FOLDER.glob(f"{records}.json"):
        assert f"]({file.name})" in PAGE


def test_means_are_of_all_seeds() -> None:
    rows = {}
    for (depth, updates, family), seeds in groups(cells_of("short") + LONGER, "depth", "updates", "family").items():
        values = [[cell["scores"][name]["score"] for cell in seeds if cell["scores"]] for name in MEASURES.values()]
        shown = [mean_of(each) for each in values] if values[0] else [seeds[0]["state"], ""]
        rows[depth, f"{updates:,}", family] = [str(len(seeds)), *shown]
    assert {tuple(line[:3]): line[3:] for line in lines_of("means")[1:]} == rows


def test_ends_of_the_longer_training_are_of_each_seed() -> None:
    """The t-test is scipy's."""
    _, *lines = lines_of("longer_ends")
    assert {(family, MEASURES[name]) for family, name, *_ in lines} == {
        (cell["family"], metric) for cell in LONGER for metric in MEASURES.values()
    }
    for family, name, *figures, p in lines:
        scores, pre_ln = (scores_of(each, MEASURES[name]) for each in (family, "pre_ln"))
        assert [each for each in figures if each] == [f"{score:.2f}" for score in scores]
        compared = family != "pre_ln" and len(scores) > 1
        assert p == (f"{ttest_ind(scores, pre_ln, equal_var=False).pvalue:.2f}" if compared else "")


def test_losses_of_the_longer_training_are_of_all_seeds() -> None:
    (_, *updates), *lines = lines_of("longer_losses")
    assert {family for family, *_ in lines} == {cell["family"] for cell in LONGER}
    for family, *shown in lines:
        losses = losses_of(family)
        assert [int(update) for update in updates] == list(losses)
        assert shown == [mean_of(each) for each in losses.values()]


def test_the_cells_of_the_plot_are_those_of_all_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(REPOSITORY / "tools")
    joined = runpy.run_path(str(REPOSITORY / "tools" / "multi30k_128.py"))["joined"](FOLDER)
    assert [cell.name for cell in joined.cells] == [cell["name"] for cell in LONGER]


def test_three_seeds_do_not_tell_pre_ln_and_realformer_apart() -> None:
    leads = []
    for metric in MEASURES.values():
        realformer, pre_ln = scores_of("realformer", metric), scores_of("pre_ln", metric)
        assert len(realformer) == len(pre_ln) == 3
        p = ttest_ind(realformer, pre_ln, equal_var=False).pvalue
        assert p > 0.05
        leads.append((statistics.mean(realformer) - statistics.mean(pre_ln), p))
    (bleu, p), (bits, p_of_bits) = leads
    assert all(lower < higher for lower, higher in zip(realformer, pre_ln, strict=True))
    mean = f"RealFormer's mean is {bleu:.2f} BLEU higher (p {p:.2f}) and {-bits:.2f} bits lower (p {p_of_bits:.2f})"
    assert f"{mean}, though its loss is the lower one with each seed" in WORDS
    means = [mean_of(scores_of(family, "bleu")) for family in ("pre_ln", "realformer")]
    assert f"With 6,000 updates Pre-LN has {means[0]} BLEU, RealFormer {means[1]}: **three" in WHY_PRE_LN_LEADS
    assert f"**three seeds do not tell the two apart** (p {p:.2f} by a t-test of their scores)" in WHY_PRE_LN_LEADS
    assert f"ends {-bits:.2f} bits below it (p {p_of_bits:.2f})" in WHY_PRE_LN_LEADS


def test_the_sentences_of_two_seeds_do_not_tell_them_apart_either() -> None:
    ps = []
    for seed in (1, 2):
        rows = json.loads((FOLDER / f"longer_seed_{seed}.json").read_text())["rows"]
        ps += [row["p"] for row in rows if row["family"] == "realformer"]
    assert min(ps) > 0.05
    assert f"p is {ps[0]:.2f} with the first seed and {ps[1]:.2f} with the second" in WORDS


def test_where_realformers_loss_overtakes_pre_lns() -> None:
    realformer, pre_ln = (
        [statistics.mean(each) for each in losses_of(family).values()] for family in ("realformer", "pre_ln")
    )
    behind = [higher > lower for higher, lower in zip(realformer, pre_ln, strict=True)]
    assert behind == sorted(behind, reverse=True)
    before, after = list(losses_of("pre_ln"))[sum(behind) - 1 :][:2]
    between = f"between update {before:,} and {after:,}"
    assert f"On average RealFormer's loss overtakes Pre-LN's {between}." in WORDS
    assert f"**RealFormer's loss overtakes Pre-LN's** {between}, in the mean of the seeds" in WHY_PRE_LN_LEADS


def test_how_far_pre_ln_leads_after_2000_updates() -> None:
    first = {
        cell["family"]: cell["scores"]["bleu"]["score"]
        for cell in cells_of("short")
        if (cell["depth"], cell["seed"]) == ("18", 1) and cell["scores"]
    }
    leads = [f"{first['pre_ln'] - first[family]:.2f}" for family in ("realformer", "admin")]
    assert f"ahead of RealFormer by {leads[0]} BLEU and of ADMIN by {leads[1]}." in WHY_PRE_LN_LEADS


def test_the_readme_has_the_means_with_18_layers() -> None:
    means = []
    for family in ("pre_ln", "realformer"):
        (short,) = (
            cell["scores"]["bleu"]["score"]
            for cell in cells_of("short")
            if (cell["depth"], cell["family"], cell["seed"]) == ("18", family, 1)
        )
        means.append((f"{short:.1f}", f"{statistics.mean(scores_of(family, 'bleu')):.1f}"))
    (short, longer), (short_of_realformer, longer_of_realformer) = means
    row = f"After 2,000 updates, one seed: Pre-LN {short}, RealFormer {short_of_realformer}. After 6,000, three seeds: "
    row += (
        f"Pre-LN {longer}, RealFormer {longer_of_realformer}, ADMIN {statistics.mean(scores_of('admin', 'bleu')):.1f} |"
    )
    assert row in (REPOSITORY / "README.md").read_text()


def test_admin_has_the_lowest_bleu_and_a_loss_between() -> None:
    admin, pre_ln, realformer = (scores_of(family, "bleu") for family in ("admin", "pre_ln", "realformer"))
    assert len(admin) == 3
    assert max(admin) < min(pre_ln + realformer)
    p_values = [ttest_ind(admin, family, equal_var=False).pvalue for family in (pre_ln, realformer)]
    against = f"(p {p_values[0]:.2f} against Pre-LN, {p_values[1]:.2f} against RealFormer, not corrected for several"
    assert (
        f"{statistics.mean(admin):.2f} in the mean, and each seed is below each seed of the other two {against}"
        in WORDS
    )
    assert f"**ADMIN ends with {mean_of(admin)} BLEU**" in WHY_PRE_LN_LEADS
    assert f"below each of the other two families (p {p_values[0]:.2f} and {p_values[1]:.2f})" in WHY_PRE_LN_LEADS
    losses = [statistics.mean(scores_of(family, "valid_loss")) for family in ("realformer", "admin", "pre_ln")]
    assert losses == sorted(losses)
    assert f"Its loss, {losses[1]:.2f} bits in the mean, is between theirs." in WORDS


def test_how_far_resi_dual_is_behind() -> None:
    bleu, bits = (scores_of("pre_ln", name)[0] - scores_of("resi_dual", name)[0] for name in ("bleu", "valid_loss"))
    assert f"by {bleu:.2f} BLEU and {-bits:.2f} bits to Pre-LN's first seed" in WORDS


def test_what_twice_the_learning_rate_does() -> None:
    at_1e_3 = {
        cell["family"]: cell["scores"] for cell in cells_of("short") if (cell["depth"], cell["seed"]) == ("6", 1)
    }
    at_2e_3 = {cell["family"]: cell["scores"] for cell in cells_of("rates")}
    assert {cell["axes"]["lr"] for cell in cells_of("rates")} == {0.002}
    rates = (at_1e_3, at_2e_3)
    assert {family: figures for family, *figures in lines_of("rates_128")[1:]} == {
        family: [f"{rate[family][name]['score']:.2f}" for name in ("valid_loss", "bleu") for rate in rates]
        for family in at_2e_3
    }
    for family, scores in at_2e_3.items():
        assert scores["bleu"]["score"] > at_1e_3[family]["bleu"]["score"]
        assert scores["valid_loss"]["score"] < at_1e_3[family]["valid_loss"]["score"]
    (p,) = (
        row["p"] for row in json.loads((FOLDER / "rates.json").read_text())["rows"] if row["family"] == "realformer"
    )
    bleu, bits = (at_2e_3["realformer"][name]["score"] - at_2e_3["pre_ln"][name]["score"] for name in MEASURES.values())
    assert f"RealFormer is ahead of Pre-LN** by {bleu:.2f} BLEU (p {p:.3f}) and {-bits:.2f} bits" in WORDS
    assert f"RealFormer is ahead of Pre-LN by {bleu:.2f} BLEU (p {p:.3f})" in WHY_PRE_LN_LEADS


def test_what_the_analyses_say() -> None:
    entropies, divergences = [], []
    for seed in (1, 2):
        (analysis,) = json.loads((FOLDER / f"longer_seed_{seed}.json").read_text())["analyses"]
        assert [claim["agrees"] for claim in analysis["claims"]] == [False, True]
        entropy, divergence = (re.findall(r"\d\.\d\d", claim["measured"]) for claim in analysis["claims"])
        assert set(divergence[::2]) == {"0.02"}
        entropies.append(entropy[:2])
        divergences.append(min(divergence[1::2]))
    of_realformer, of_pre_ln = map(" and ".join, zip(*entropies, strict=True))
    assert f"(entropy in the encoder {of_realformer} bits; Pre-LN's {of_pre_ln})" in WORDS
    assert f"(divergence 0.02 bits in each chain; Pre-LN's from {' and '.join(divergences)})" in WORDS


def test_claims_about_the_longer_trainings_are_their_analysis() -> None:
    record = convert(json.loads((FOLDER.parent / "claims_longer.json").read_text()), ClaimsRecord)
    families = [model.family for model in record.trained]
    assert families == ["pre_ln", "admin", "admin", "resi_dual"]
    for name, table in TABLES.items():
        assert f"<!-- table {name} -->\n\n{table(record)}\n<!-- end -->" in PAGE
    assert "**no**" not in TABLES["claims"](record)
    (pre_ln, *_) = record.trained
    assert sum(loss > 0.02 for loss in pre_ln.left_out["encoder"]) == 2


def test_hours_are_of_the_shortest_and_the_longest_training() -> None:
    rows = []
    for (depth, updates), cells in groups(cells_of("short") + LONGER, "depth", "updates").items():
        hours = [cell["hours"] for cell in cells if cell["state"] == "done"]
        parameters = f"{cells[0]['parameters'] / 1e6:.1f} million"
        rows.append([depth, f"{updates:,}", parameters, f"{min(hours):.2f} to {max(hours):.2f}"])
    assert sorted(lines_of("cost")[1:]) == sorted(rows)
