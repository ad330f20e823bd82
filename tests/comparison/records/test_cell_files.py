"""Files of one cell in the folder of another; reliability/attacks_swaps.py swaps all of them."""

from pathlib import Path

from reliability import attacks_swaps

SWAPPED = (("average.pt", "average.pt.json"),)  # a checkpoint with a record that fits it, of another cell


def test_no_number_of_another_cell_is_shown(compared: Path) -> None:
    beside = compared.with_name("swapped")  # run.json names its reference relative to itself
    figures = attacks_swaps.attack(compared / "grid.toml", compared / "runs", beside, SWAPPED)
    assert figures["sets of files swapped between cells"] == len(SWAPPED)
