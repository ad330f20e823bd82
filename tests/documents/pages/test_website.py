"""The website of `make docs`, opened from the disk in a real browser. `make test` makes it first."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fixture_types import Once
from pages import browsers
from playwright.sync_api import Page
from programs.program import REPOSITORY

MKDOCS = Path(sys.prefix, "docs", "bin", "mkdocs")
FETCHED = re.compile(
    r"<(?:script|img|iframe|source|embed|object)\b[^>]*\b(?:src|data)=\"?((?:https?:)?//[^\s\">]+)"
    r"|<link\b[^>]*\bhref=\"?((?:https?:)?//[^\s\">]+)"
    r"|(?:url\(|@import )[\"']?((?:https?:)?//[^\s\"')]+)"
)


@pytest.fixture(scope="module")
def website(once: Once) -> Path:
    """The whole website, which MkDocs builds in 20 seconds."""
    if not MKDOCS.exists():
        pytest.fail("no MkDocs: make docs", pytrace=False)
    return once("website", build)


def build(folder: Path) -> None:
    words = [str(MKDOCS), "build", "--quiet", "--config-file", "tools/website/mkdocs.yml", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(words, cwd=REPOSITORY, env=quiet, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr


@pytest.fixture
def page() -> Iterator[Page]:
    with browsers.started() as browser:
        yield browser.new_page()


def test_no_page_takes_anything_from_elsewhere(website: Path) -> None:
    assert FETCHED.findall('<script src="https://a.org/b.js"><link href=//c.org/d.css>') != []
    files = [*website.rglob("*.html"), *website.rglob("*.css")]
    assert len(files) > 30
    assert {file.name: urls for file in files if (urls := FETCHED.findall(file.read_text()))} == {}


def test_search_works_from_the_disk_and_asks_nobody(website: Path, page: Page) -> None:
    urls, complaints = [], []
    page.on("request", lambda request: urls.append(request.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((website / "index.html").as_uri())
    page.focus("input[name=query]")
    page.keyboard.type("untractable")  # the search listens to keys
    page.wait_for_selector(".md-search-result__link")
    titles = page.locator(".md-search-result__item h1").all_inner_texts()
    assert "Optimizer, schedule and losses" in titles
    assert [url for url in urls if not url.startswith(("file:", "data:", "blob:"))] == []
    assert complaints == []


def test_a_link_to_a_module_leads_to_its_reference(website: Path) -> None:
    anchor = "realformer_nmt.model.topologies.topology"
    assert f'"../python/model.html#{anchor}"' in (website / "docs" / "adding.html").read_text()
    assert f'id="{anchor}"' in (website / "python" / "model.html").read_text()
