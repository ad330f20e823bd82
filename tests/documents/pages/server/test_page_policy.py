"""Hostile texts, and a page that would hold one as markup."""

from collections.abc import Callable

from pages.served_page import HOSTILE, PHONE, translate
from playwright.sync_api import Page

Opened = Callable[..., tuple[Page, list[str]]]


def test_hostile_text_is_text(opened: Opened) -> None:
    """Hostile text stands in a model's name, in what is translated, and as a piece at a picture's edge."""
    page, complaints = opened(PHONE)
    page.get_by_role("checkbox", name="early").uncheck()
    page.get_by_role("checkbox", name="late").uncheck()
    page.get_by_label(HOSTILE).check()
    (card,) = translate(page, HOSTILE)
    assert card.locator(".source").inner_text() == HOSTILE
    assert HOSTILE in card.locator("h2").inner_text()
    card.locator(".nbest button").first.click()
    card.get_by_role("table").wait_for()
    assert page.locator("main img, main script").count() == 0
    assert page.title() == "realformer-nmt"
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    assert complaints == []


def test_the_policy_runs_no_script_even_where_one_stands_in_the_page(opened: Opened) -> None:
    """The scripts stand in the page as if a text had come through as markup."""
    page, complaints = opened()
    page.evaluate(
        """() => {
            const script = document.createElement('script')
            script.textContent = "document.title = 'run'"
            document.body.append(script)
            const add = markup => document.body.insertAdjacentHTML('beforeend', markup)
            add(`<img src="http://127.0.0.1:9/x" onerror="document.title='run'">`)
            add('<p id="styled" style="color: rgb(1, 2, 3)">a</p>')
        }"""
    )
    assert page.title() == "realformer-nmt"
    assert page.locator("#styled").evaluate("each => getComputedStyle(each).color") != "rgb(1, 2, 3)"
    assert sum("Content Security Policy" in line for line in complaints) >= 3
