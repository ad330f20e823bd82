"""Every link of the documentation leads somewhere, as GitHub shows it."""

import re
from pathlib import Path

import pytest
import yaml
from programs.program import REPOSITORY

PAGES = [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md"), *REPOSITORY.glob("recipes/*/*.md")]
LINK = re.compile(r"\]\(([^()\s]+)\)|<(?:a|img)[^>]+(?:href|src)=\"([^\"]+)\"")


def prose(page: Path) -> str:
    """Return the page without code, in which a bracket is no link and a # no heading."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`(?=[^`\n]*\]\()[^`\n]*\]\([^`\n]*`", "", text)


def anchors(page: Path) -> set[str]:
    """A heading's: lower case, letters, digits, - and _, a hyphen for a space; -1 for the second of a name."""
    slugs: list[str] = []
    for heading in re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        earlier = slugs.count(anchor)
        slugs += [anchor, f"{anchor}-{earlier}"] if earlier else [anchor]
    return set(slugs)


def broken(page: Path) -> list[str]:
    links = [first or second for first, second in LINK.findall(prose(page))]
    return [link for link in links if not re.match(r"[a-z]+:", link) and not leads_somewhere(page, link)]


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    page = REPOSITORY / "docs" / "models.md"
    copy = tmp_path / "copy.md"
    copy.write_text("# A `b`, c!\n\n## A\n\n## A\n\n[1](#a-b-c) [2](#a-1) [3](#a-2) [4](gone.md) [5](https://x.org)\n")
    assert broken(copy) == ["#a-2", "gone.md"]
    assert leads_somewhere(page, "training.md#--optimizer-radam")
    assert not leads_somewhere(page, "training.md#optimizer")


def test_every_page_is_in_the_websites_navigation_or_said_to_be_none() -> None:
    settings = yaml.safe_load((REPOSITORY / "tools/website/mkdocs.yml").read_text())
    pages = {*listed(settings["nav"]), settings["not_in_nav"]}
    assert pages == {str(page.relative_to(REPOSITORY)) for page in PAGES}


def listed(entries: list[object]) -> list[str]:
    pages: list[str] = []
    for entry in entries:
        pages += [entry] if isinstance(entry, str) else listed(next(iter(entry.values())))
    return pages
