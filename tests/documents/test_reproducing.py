"""The page on reproducing the papers, against what the commands take by default."""

from dataclasses import fields

from programs.program import REPOSITORY

from realformer_nmt.comparison.run import RunRequest
from realformer_nmt.corpora.subwords.subword_methods import DEFAULT

PAGE = " ".join((REPOSITORY / "docs" / "reproducing.md").read_text().split())


def test_run_and_compare_split_by_the_methods_that_the_page_names() -> None:
    of_run = next(field.default for field in fields(RunRequest) if field.name == "subwords")
    assert f"`run` splits by `{of_run}`, as the papers do; `prepare` and `compare` by `{DEFAULT}`" in PAGE
