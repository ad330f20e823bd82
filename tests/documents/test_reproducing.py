"""The page on reproducing the papers, against what the commands take by default."""

from dataclasses import fields

from programs.program import REPOSITORY

from realformer_nmt.comparison.grid.corpus import Options
from realformer_nmt.comparison.run import RunRequest
from realformer_nmt.corpora.subwords.subword_methods import DEFAULT

PAGE = " ".join((REPOSITORY / "docs" / "reproducing.md").read_text().split())


def test_run_and_compare_split_by_the_methods_that_the_page_names() -> None:
    """`prepare` has None, which stands for the default, so that --like can tell that nothing was asked."""
    of_run, of_grid = (
        next(field.default for field in fields(kind) if field.name == "subwords") for kind in (RunRequest, Options)
    )
    assert of_grid == DEFAULT
    assert f"`run` splits by `{of_run}`, as the papers do; `prepare` and `compare` by `{of_grid}`" in PAGE
