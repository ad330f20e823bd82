"""Files of one cell in the folder of another."""

import shutil
from pathlib import Path

from grids import comparisons
from grids.comparisons import DONE

from realformer_nmt import cli

MODEL = ("average.pt", "average.pt.json")  # a checkpoint with a record that fits it


def test_no_number_of_another_cell_is_shown(compared: Path) -> None:
    """A report has no score of cells whose models are exchanged, and `compare` refuses to go on with them."""
    beside = compared.with_name("swapped")  # run.json names its reference relative to itself
    shutil.copytree(compared, beside, ignore=shutil.ignore_patterns("checkpoints"))
    one, other = (beside / "runs/cells" / name for name in DONE[:2])
    for name in MODEL:
        (one / name).rename(one / "kept")
        (other / name).rename(one / name)
        (one / "kept").rename(other / name)
    words = ["compare", str(beside / "grid.toml"), "--folder", str(beside / "runs"), "--gpus", "0"]
    assert cli.main([*words, "--report"]) == 0
    cells = {cell["name"]: cell for cell in comparisons.results(beside / "runs")["cells"]}
    for cell in (one, other):
        assert not cells[cell.name]["scores"], cells[cell.name]["state"]
    assert cli.main(words) == 1
