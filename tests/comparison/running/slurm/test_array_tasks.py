"""A change that gives a cell's job other settings."""

from pathlib import Path

from grids.grid_cells import only

from realformer_nmt.common.requests.toml_tables import locate
from realformer_nmt.comparison.running.slurm.array_tasks import digest
from realformer_nmt.protocols.protocol import FOLDER


def test_the_digest_of_a_cell_is_of_its_protocol_too(folder: Path) -> None:
    protocol, grid = folder / "mine.toml", folder / "grid.toml"
    protocol.write_bytes(locate("--protocol", "small", FOLDER, ["small"]).read_bytes())
    grid.write_text(grid.read_text().replace('"small"', '"mine.toml"'))
    before = digest(*only(folder))
    assert digest(*only(folder)) == before
    protocol.write_text(f"{protocol.read_text()}\n")
    assert digest(*only(folder)) != before
