"""The data-bin of docs/text_models.md fits the grid of the same page."""

import re
import shlex
from pathlib import Path

from figures.pages import text
from grids.grid_cells import corpus_of
from programs import commands

from realformer_nmt.comparison.grid import grid as grids

GUIDE = text("docs/text_models.md")


def test_the_pages_data_bin_has_what_the_pages_grid_scores_on(tmp_path: Path) -> None:
    (tmp_path / "demo" / "text").mkdir(parents=True)
    for name in ("train", "valid", "test"):
        (tmp_path / "demo" / "text" / f"{name}.en").write_text("a text\n")
    (block,) = re.findall(r"```bash\nfairseq-preprocess (.*? data-bin)\n", GUIDE, re.DOTALL)
    done = commands.run([*commands.fairseq("preprocess"), *shlex.split(block.replace("\\\n", ""))], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "grid.toml").write_text(GUIDE.partition("```toml\n")[2].partition("```")[0])
    grid = grids.load(tmp_path / "grid.toml")
    corpus = corpus_of(grid, tmp_path / "runs")
    assert grid.subsets == ("test",)
    corpus.check_subset("test")
