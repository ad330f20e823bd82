"""Sentences about the two learning rates on the pages of recipes/zoo, against the records."""

import re

from grids.zoo_records import DEPTHS, RATES, best_cells, cells_by_rate, leading, page_of
from programs.program import REPOSITORY

from realformer_nmt.comparison.results.cell_result import CellResult


def behind_at_1e_3(name: str) -> dict[str, float]:
    """Return how far each family that learns at both rates is behind at the lower one, in BLEU."""
    both = {family: by_rate for family, by_rate in cells_by_rate(name).items() if by_rate.keys() == set(RATES)}
    pairs = {family: [by_rate[rate].scores.get("bleu") for rate in RATES] for family, by_rate in both.items()}
    return {family: higher.score - lower.score for family, (lower, higher) in pairs.items() if lower and higher}


def test_what_the_lower_rate_costs_with_18_layers_is_the_records() -> None:
    page, behind = page_of("zoo_18l"), behind_at_1e_3("zoo_18l")
    assert all(cell.axes["lr"] == 0.002 for cell in best_cells("zoo_18l").values() if cell.state == "done")
    assert f"for each of the {len(behind)} families that learn" in page
    assert f"at 1e-3 they are {min(behind.values()):.0f} to {max(behind.values()):.0f} BLEU behind" in page
    lower = {
        family: by_rate[0.001].scores["bleu"].score
        for family, by_rate in cells_by_rate("zoo_18l").items()
        if by_rate[0.001].state == "done"
    }
    ahead = [lower[row.family] - lower["pre_ln"] for row in leading("zoo_18l")]
    assert f"At 1e-3 all six are ahead, too, by {min(ahead):.1f} to {max(ahead):.1f}." in page


def test_what_the_lower_rate_costs_with_36_layers_is_the_records() -> None:
    page, behind = page_of("zoo_36l"), behind_at_1e_3("zoo_36l")
    assert f"at 1e-3 it is {behind.pop('pre_ln'):.0f} BLEU behind" in page
    costs = [bleu for bleu in behind.values() if bleu > 0]
    gains = sorted(((-bleu, family) for family, bleu in behind.items() if bleu < 0), reverse=True)
    sentence = f"Of the other {len(behind)} that learn at both rates {len(costs)} are {min(costs):.0f} to"
    assert f"{sentence} {max(costs):.0f} behind" in page
    (first, family), *middle, (last, smallest) = gains
    listed = ", ".join([f"`{family}` {first:.1f} BLEU", *(f"`{family}` {bleu:.1f}" for bleu, family in middle)])
    assert len(gains) == 4
    assert f"**Four gain by the lower rate**: {listed} and `{smallest}` {last:.1f}." in page


def test_which_cells_of_the_lower_rate_a_gpu_trained_is_the_record() -> None:
    by_rate = cells_by_rate("zoo_36l")
    assert all(cells.keys() == set(RATES) for cells in by_rate.values())
    devices = [cells[0.001].device for cells in by_rate.values()]
    assert len(devices) - devices.count("CPU") == 12
    stuck = [cells for cells in by_rate.values() if {cell.state for cell in cells.values()} == {"stuck"}]
    assert len(stuck) == 4
    assert "Four of them are stuck at 1e-3, too." in page_of("zoo_36l")


def test_the_rates_that_the_page_of_all_families_names_are_the_records() -> None:
    page = " ".join((REPOSITORY / "docs" / "residuals.md").read_text().split())
    best = {name: best_cells(name) for name in DEPTHS}
    lower = {(name, family) for name, cells in best.items() for family, cell in cells.items() if is_lower(cell)}
    sentence = re.search(
        r"chose 2e-3 for all families, with one exception: with 36 layers it chose 1e-3 for (.+?)\.", page
    )
    assert sentence
    assert lower == {("zoo_36l", family) for family in re.findall(r"`(\w+)`", sentence[1])}


def is_lower(cell: CellResult) -> bool:
    return cell.state == "done" and cell.axes["lr"] == min(RATES)


def test_what_the_lower_rate_costs_with_6_layers_is_the_records() -> None:
    page, behind = page_of("zoo_6l"), behind_at_1e_3("zoo_6l")
    assert all(cell.axes["lr"] == 0.002 for cell in best_cells("zoo_6l").values())
    assert f"for each of the {len(behind)} families" in page
    assert f"at 1e-3 they are {min(behind.values()):.0f} to {max(behind.values()):.0f} BLEU behind" in page
