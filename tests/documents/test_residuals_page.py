"""The page "Which residual?": each family under its idea."""

import json
import re

from programs.program import REPOSITORY

from realformer_nmt.model.presets import FAMILIES, FAMILIES_BY_IDEA

PAGE = (REPOSITORY / "docs" / "residuals.md").read_text()
README = (REPOSITORY / "README.md").read_text()
AUTHORS_CODE = (REPOSITORY / "docs" / "reference" / "authors_code.md").read_text()
MODELS = (REPOSITORY / "docs" / "models.md").read_text()
IDEAS = {
    "Where the norm stands": "norm",
    "Which norm": "norm",
    "How the branch is weighed": "branch",
    "What is carried from layer to layer": "carried",
    "Inside attention": "attention",
}


def rows() -> list[tuple[str, str]]:
    """The idea of each row, and its first cell."""
    sections = re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return [
        (IDEAS[title], cell)
        for title, text in sections
        if title in IDEAS
        for cell in re.findall(r"^\| (`.+?`) \|", text, re.MULTILINE)
    ]


def test_every_family_stands_under_its_idea_here_or_on_the_page_of_models() -> None:
    shown = {(idea, name) for idea, cell in rows() for name in re.findall(r"`(\w+)`", cell)}
    families = {(idea, name) for idea, families in FAMILIES_BY_IDEA.items() for name in families}
    assert shown <= families
    elsewhere = {name for _, name in families - shown}
    endings = {name.removeprefix("synthesizer") for name in elsewhere}  # how that page shortens them
    assert {name for name in endings if f"`{name}`" not in MODELS and f"`synthesizer{name}`" not in MODELS} == set()
    assert len(FAMILIES) == len(families)
    in_readme = re.findall(r"^\| `(\w+)` \| .*LN\(|^\| `(realformer)` \| as", README, re.MULTILINE)
    assert f"| {len(FAMILIES) - len(in_readme)} more |" in README


def test_the_table_of_authors_code_has_a_row_for_each_record() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\S+)", AUTHORS_CODE, re.MULTILINE)
    records = (REPOSITORY / "tests/model/authors_code").iterdir()
    repositories = {record.stem: json.loads(record.read_text())["repository"] for record in records}
    assert rows == sorted((family, repository.partition("/")[2]) for family, repository in repositories.items())
