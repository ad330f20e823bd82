"""Sentences about the trainings on Multi30k, and about what disappears as a budget grows, hold the records' figures."""

import re
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from figures.pages import RESULTS, record, row, says, table, text
from grids.grid_cells import cells_of
from msgspec import to_builtins
from scipy.stats import ttest_ind

from realformer_nmt.comparison.grid import grid as grids
from realformer_nmt.comparison.results import results_file

PAGE, WHY = "docs/results/multi30k_128/README.md", "docs/results/why_pre_ln_leads.md"
NARROW = sorted(folder.name for folder in RESULTS.glob("multi30k_en_de*"))
FILES = sorted((RESULTS / "multi30k_128").glob("longer*.json"))
LONGER = [to_builtins(cell) for file in FILES for cell in results_file.read(file).cells]
SHORT, FASTER = (
    {(cell["depth"], cell["family"], cell["seed"]): cell for cell in record(f"multi30k_128/{name}")["cells"]}
    for name in ("short", "rates")
)
PRE_LN, REALFORMER, ADMIN = "pre_ln", "realformer", "admin"


def score(cell: dict[str, Any], metric: str = "bleu") -> float:
    return float(cell["scores"][metric]["score"])


def longer(family: str, metric: str = "bleu") -> list[float]:
    """Return the scores of a family's trainings of 6,000 updates, by seed."""
    cells = [cell for cell in LONGER if cell["family"] == family]
    return [score(cell, metric) for cell in sorted(cells, key=lambda cell: int(cell["seed"]))]


def mean_of(family: str) -> str:
    return f"{fmean(longer(family)):.2f} ± {stdev(longer(family)):.2f}"


def p_between(family: str, other: str, metric: str = "bleu") -> str:
    return f"p {ttest_ind(longer(family, metric), longer(other, metric), equal_var=False).pvalue:.2f}"


@pytest.mark.parametrize(("name", "trained"), [("short", len(SHORT)), ("longer", len(LONGER)), ("rates", len(FASTER))])
def test_how_many_cells_are_trained(name: str, trained: int, tmp_path: Path) -> None:
    planned = len(list(cells_of(grids.load(RESULTS / "multi30k_128" / f"{name}.toml"), tmp_path)))
    (line,) = [line for line in table(PAGE) if line.startswith(f"| [{name}.toml]")]
    assert f"| {trained} of {planned} |" in line


@pytest.mark.parametrize("name", NARROW)
def test_scores_with_width_64(name: str) -> None:
    shown = dict(re.findall(r"^\| `(\w+)` \| (\S+)", text(f"docs/results/{name}/README.md"), re.MULTILINE))
    cells = record(f"{name}/results")["cells"]
    assert shown == {cell["family"]: f"{score(cell):.2f}" if cell["scores"] else "failed" for cell in cells}


def test_pre_ln_and_realformer_with_6000_updates() -> None:
    bits = fmean(longer(PRE_LN, "valid_loss")) - fmean(longer(REALFORMER, "valid_loss"))
    p, p_of_bits = (p_between(PRE_LN, REALFORMER, metric) for metric in ("bleu", "valid_loss"))
    says(
        WHY,
        f"With 6,000 updates Pre-LN has {mean_of(PRE_LN)} BLEU, RealFormer {mean_of(REALFORMER)}: **three seeds",
        f"apart** ({p} by a t-test",
        f"ends {bits:.2f} bits below it ({p_of_bits})",
    )


def test_where_realformers_loss_overtakes_pre_lns() -> None:
    losses: dict[int, dict[str, list[float]]] = {}
    for cell in LONGER:
        for point in cell["curves"]["valid"]:
            losses.setdefault(point["update"], {}).setdefault(cell["family"], []).append(point["nll_loss"])
    later = [update for update, of in losses.items() if fmean(of[REALFORMER]) < fmean(of[PRE_LN])]
    before = max(update for update in losses if update < later[0])
    for page in (PAGE, WHY):
        says(page, f"between update {before:,} and {later[0]:,}")


def test_admin_with_6000_updates() -> None:
    against = [p_between(ADMIN, family) for family in (PRE_LN, REALFORMER)]
    says(WHY, f"**ADMIN ends with {mean_of(ADMIN)} BLEU**", f"families ({against[0]} and {against[1][2:]})")


def test_pre_lns_lead_after_2000_updates() -> None:
    of_realformer, of_admin = (
        score(SHORT["18", PRE_LN, 1]) - score(SHORT["18", family, 1]) for family in (REALFORMER, ADMIN)
    )
    says(WHY, f"ahead of RealFormer by {of_realformer:.2f} BLEU and of ADMIN by {of_admin:.2f}.")


def test_the_recipe_shows_means() -> None:
    families = (PRE_LN, REALFORMER, ADMIN, "resi_dual", "post_ln")
    shallow = [fmean(score(SHORT["6", family, seed]) for seed in (1, 2, 3)) for family in families]
    deep = [score(SHORT["18", family, 1]) for family in families[:2]]
    means = {
        "6L-6L, 2,000 updates": shallow,
        "18L-18L, 2,000 updates, one seed": deep,
        "18L-18L, 6,000 updates": [fmean(longer(family)) for family in families[:3]],
    }
    lines = [row(name, *([f"{mean:.1f}" for mean in values] + [""] * 3)[:5]) for name, values in means.items()]
    assert table("recipes/multi30k_en_de/README.md") == lines


def test_twice_the_learning_rate() -> None:
    lost = score(SHORT["6", "realformer_post_ln", 1], "valid_loss") - score(
        FASTER["6", "realformer_post_ln", 1], "valid_loss"
    )
    rows = {row["family"]: row for row in record("multi30k_128/rates")["rows"]}
    bleu, bits = (
        " and ".join(f"{abs(rows[family]['delta'][metric]):.2f}" for family in (REALFORMER, ADMIN))
        for metric in ("bleu", "valid_loss")
    )
    p = " and ".join(f"{rows[family]['p_holm']:.3f}" for family in (REALFORMER, ADMIN))
    says(PAGE, f"lower loss at 2e-3 by {lost:.2f} bits", f"by {bleu} BLEU (p {p}, Holm), and by {bits} bits")
    says(WHY, f"ahead of Pre-LN by {bleu} BLEU (p {p})")


def test_leads_at_three_budgets() -> None:
    bleu = {
        (cell["family"], cell["seed"], cell["axes"]["updates"]): score(cell)
        for cell in record("quickstart_longer/results")["cells"]
    }
    of = {
        (family, seed): [
            f"{bleu[PRE_LN, seed, updates] - bleu[family, seed, updates]:.2f}" for updates in (375, 750, 1500)
        ]
        for family in (REALFORMER, ADMIN)
        for seed in (1, 2)
    }
    first, second, third, fourth = ("{}, {} and {}".format(*leads) for leads in of.values())
    of_realformer = f"RealFormer by {first} points with the first seed, by {second} with the second"
    says(WHY, f"{of_realformer}; of ADMIN by {third}, and by {fourth}")


def test_shorter_runs() -> None:
    scores = {cell["family"]: score(cell) for cell in record("quickstart_500/results")["cells"]}
    head, six, eighteen = (
        line.strip("| ").replace("`", "").split(" | ")[1:]
        for line in text("README.md").splitlines()
        if re.match(r"\| (sacreBLEU|6L-6L|18L-18L) ", line)
    )
    shallow, deep = (dict(zip(head, scores, strict=True)) for scores in (six, eighteen))
    says(
        WHY,
        f"Post-LN is {scores[PRE_LN] - scores['post_ln']:.1f} points behind Pre-LN.",
        f"half as many again, Post-LN is {float(shallow[PRE_LN]) - float(shallow['post_ln']):.1f} points behind",
        "Pre-LN has {pre_ln} BLEU with 6 layers, ADMIN {admin}, RealFormer {realformer}, Post-LN {post_ln}:".format(
            **shallow
        ),
        "as Pre-LN ({admin}, {pre_ln}), RealFormer is behind ({realformer})".format(**deep),
    )


def test_gradients_at_the_start() -> None:
    (deep,) = (
        row["gradient"]
        for row in record("gradients_at_start")["rows"]
        if (row["depth"], row["family"]) == (18, "post_ln")
    )
    says(WHY, f"a gradient {deep['last of the decoder'] / deep['first of the decoder']:.0f} times as large")
