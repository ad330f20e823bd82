"""The longer trainings of docs/results/multi30k_128: table, plot and sentences are those of all their records."""

import json
import re
import runpy
import statistics
from typing import Any

from programs.program import REPOSITORY
from scipy.stats import ttest_ind

FOLDER = REPOSITORY / "docs" / "results" / "multi30k_128"
PAGE = (FOLDER / "README.md").read_text()
WORDS = " ".join(PAGE.split())
WHY_PRE_LN_LEADS = " ".join((REPOSITORY / "docs" / "why_pre_ln_leads.md").read_text().split())


def cells_of_longer() -> list[dict[str, Any]]:
    records = [json.loads(file.read_text()) for file in sorted(FOLDER.glob("longer*.json"))]
    return [cell for record in records for cell in record["cells"]]


def scores_of(family: str, metric: str) -> list[float]:
    """Return the scores of a family in the order of its seeds."""
    cells = [cell for cell in cells_of_longer() if cell["family"] == family]
    return [cell["scores"][metric]["score"] for cell in sorted(cells, key=lambda cell: int(cell["seed"]))]


def test_losses_are_of_all_seeds() -> None:
    table = PAGE.partition("<!-- table longer_seeds -->")[2].partition("<!-- end -->")[0]
    head, _, *lines = (line.strip("| ").split(" | ") for line in table.strip().splitlines())
    cells = cells_of_longer()
    assert {line[0].strip("`") for line in lines} == {cell["family"] for cell in cells}
    for family, seeds, *losses in lines:
        curves = [
            {str(point["update"]): point["nll_loss"] for point in cell["curves"]["valid"]}
            for cell in cells
            if f"`{cell['family']}`" == family
        ]
        assert len(curves) == int(seeds)
        for update, loss in zip(head[2:], losses, strict=True):
            bits = [curve[update] for curve in curves]
            deviation = f" \N{PLUS-MINUS SIGN} {statistics.stdev(bits):.2f}" if len(bits) > 1 else ""
            assert loss == f"{statistics.mean(bits):.2f}{deviation}"


def test_the_cells_of_the_plot_are_those_of_all_records() -> None:
    joined = runpy.run_path(str(REPOSITORY / "tools" / "longer_plot.py"))["joined"](FOLDER)
    assert [cell.name for cell in joined.cells] == [cell["name"] for cell in cells_of_longer()]
    for row in joined.rows:
        mean = f"{row.scores['bleu'].mean:.2f}"
        assert re.search(rf"^\| 18 \| 6,000 \| `{row.family}` \| {row.seeds} \| {mean}", PAGE, re.MULTILINE)


def test_three_seeds_do_not_tell_pre_ln_and_realformer_apart() -> None:
    """The t-test is scipy's."""
    leads = []
    for metric in ("bleu", "valid_loss"):
        realformer, pre_ln = scores_of("realformer", metric), scores_of("pre_ln", metric)
        assert len(realformer) == len(pre_ln) == 3
        p = ttest_ind(realformer, pre_ln, equal_var=False).pvalue
        assert p > 0.05
        leads.append((statistics.mean(realformer) - statistics.mean(pre_ln), p))
    (bleu, p), (bits, p_of_bits) = leads
    assert all(lower < higher for lower, higher in zip(realformer, pre_ln, strict=True))
    mean = f"RealFormer's mean is {bleu:.2f} BLEU higher (p {p:.2f}, Welch's t-test of the seeds' scores) and"
    assert (
        f"{mean} {-bits:.2f} bits lower (p {p_of_bits:.2f}), though its loss is the lower one with each seed" in WORDS
    )
    assert f"**Three seeds do not tell the two apart** (p {p:.2f} by a t-test of their BLEU)." in WHY_PRE_LN_LEADS


def test_admin_ends_with_realformers_loss_and_a_lower_score() -> None:
    admin, realformer = (
        {name: scores_of(family, name) for name in ("bleu", "valid_loss")} for family in ("admin", "realformer")
    )
    losses, scores = (" and ".join(f"{value:.2f}" for value in admin[name]) for name in ("valid_loss", "bleu"))
    range_of = f"ADMIN's two seeds end at {losses} bits, within the range of RealFormer's three, and at {scores} BLEU"
    assert f"{range_of}, below all of them. Its third is not trained." in WORDS
    assert min(realformer["valid_loss"]) < min(admin["valid_loss"])
    assert max(admin["valid_loss"]) < max(realformer["valid_loss"])
    assert max(admin["bleu"]) < min(realformer["bleu"])
