"""The page of a server with tiny models, in a real browser."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pages import browsers
from pages.served_page import DESK, HOSTILE
from pages.serving_client import Client, serving
from playwright.sync_api import Browser, Page

import realformer_nmt
from realformer_nmt.serving.serve import Limits
from realformer_nmt.serving.served_models import Served
from realformer_nmt.serving.translator import Translator

Opened = Callable[..., tuple[Page, list[str]]]


@pytest.fixture(scope="session")
def models(run: Path, toy_corpus: Path) -> dict[str, Served]:
    """Two of one language pair, one whose name is hostile, and one that is said to be of another pair."""
    names = {"early": "checkpoint4.pt", "late": "checkpoint5.pt", HOSTILE: "checkpoint5.pt"}
    options = {"data": toy_corpus, "subwords": "none", "cpu": True}
    translators = {name: realformer_nmt.load(run / file, **options) for name, file in names.items()}
    late = translators["late"]
    turned = replace(late.corpus, source="tgt", target="src")
    translators["back"] = Translator(late.checkpoints, turned, late.device)
    return {name: Served(name, translator, "fp32", "realformer", (2, 2)) for name, translator in translators.items()}


@pytest.fixture(scope="session")
def client(models: dict[str, Served]) -> Iterator[Client]:
    with serving(models, Limits(most_characters=200)) as http_client:
        yield http_client


@pytest.fixture(scope="module")  # a process has one playwright at a time
def browser() -> Iterator[Browser]:
    with browsers.started() as started:
        yield started


@pytest.fixture(scope="module")
def page(browser: Browser) -> Page:
    return browser.new_page()


@pytest.fixture
def opened(page: Page, client: Client) -> Iterator[Opened]:
    """opened(size, scheme) -> the page, and what it complained of or asked of others."""

    def show(size: tuple[int, int] = DESK, scheme: str = "light") -> tuple[Page, list[str]]:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(color_scheme=scheme)
        page.goto(client.address)
        page.get_by_role("checkbox", name="early").wait_for()
        return page, complaints

    with browsers.watched(page, lambda: client.address) as complaints:
        yield show
