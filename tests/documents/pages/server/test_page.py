"""The page works by day and night, on desk and phone, by mouse and keyboard; it tells a refusal and a lost server."""

from collections.abc import Callable

import pytest
from pages.served_page import DESK, HOSTILE, PHONE, shown, translate
from pages.serving_client import serving
from playwright.sync_api import Browser, Page

from realformer_nmt.serving.served_models import Served

Opened = Callable[..., tuple[Page, list[str]]]


@pytest.mark.parametrize(("size", "scheme"), [(DESK, "light"), (PHONE, "dark")], ids=["desk", "phone"])
def test_two_models_translate_side_by_side(
    opened: Opened, models: dict[str, Served], size: tuple[int, int], scheme: str
) -> None:
    page, complaints = opened(size, scheme)
    texts = ["a c b d", "f e"]
    cards = translate(page, "\n".join(texts), nbest=2)
    for card, name in zip(cards, ("early", "late"), strict=True):
        nbest_lists = list(models[name].translator.stream(texts, nbest=2))
        assert shown(card) == [each.text for hypotheses in nbest_lists for each in hypotheses]
        scores = [f"score {each.score:.2f}" for hypotheses in nbest_lists for each in hypotheses]
        assert card.locator(".nbest small").all_inner_texts() == scores
        edge = card.locator(".nbest button").first.evaluate("button => getComputedStyle(button).borderColor")
        assert edge != "rgba(0, 0, 0, 0)"  # it looks like a button
        assert card.locator(".source").all_inner_texts() == texts
        assert "realformer, 2-2 layers" in card.inner_text()
        card.locator(".nbest button").first.click()
        card.get_by_role("table").wait_for()
    (first, second) = (card.bounding_box() for card in cards)
    assert first
    assert second
    assert (first["y"] == second["y"]) == (size == DESK)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert complaints == []


def test_a_text_of_several_sentences_is_translated_by_sentence(opened: Opened, models: dict[str, Served]) -> None:
    page, complaints = opened()
    text = "a c. B d\n\n f"
    card = translate(page, text)[0]
    assert card.locator(".source").all_inner_texts() == ["a c.", "B d", "f"]
    (whole,) = models["early"].translator.translate([text], split_sentences=True)
    assert card.locator(".whole").text_content() == whole
    assert complaints == []


def test_the_languages_choose_among_the_models(opened: Opened) -> None:
    page, complaints = opened()
    languages, boxes = page.get_by_label("Languages"), page.get_by_role("checkbox")
    assert languages.locator("option").all_inner_texts() == ["src \u2192 tgt", "tgt \u2192 src"]
    assert boxes.evaluate_all("boxes => boxes.map(box => box.value)") == ["early", "late", HOSTILE]
    languages.select_option("tgt \u2192 src")
    assert boxes.evaluate_all("boxes => boxes.map(box => box.value)") == ["back"]
    assert boxes.is_checked()
    assert complaints == []


def test_all_of_it_works_by_keyboard(opened: Opened) -> None:
    page, complaints = opened()
    press = page.keyboard.press

    def focused() -> str:
        return page.evaluate("document.activeElement.labels?.[0]?.innerText ?? document.activeElement.innerText")

    order = ["Languages", "early", "late", "a <img", "Text"]
    for name in order:
        press("Tab")
        assert focused().startswith(name)
    page.keyboard.type("a c b d")
    press("Control+Enter")
    page.get_by_text("2 of 2 models translated, in").wait_for()
    for name in ("Beam", "Translations of each sentence", "Translate"):
        press("Tab")
        assert focused() == name
    press("Tab")
    press("Enter")
    card = page.get_by_role("article").first
    assert card.locator("[aria-pressed=true]").count() == 1
    card.get_by_role("table").wait_for()
    for name in ("Chain", "Layer", "Head"):
        press("Tab")
        assert focused().startswith(name)
    press("Tab")
    if page.evaluate("document.activeElement.matches('.box')"):  # browsers stop at what scrolls
        press("Tab")
    cells = card.locator("tbody td")
    assert page.evaluate("document.activeElement.title") == cells.first.get_attribute("title")
    press("ArrowRight")
    press("ArrowDown")
    press("ArrowUp")
    press("ArrowUp")  # there is none above
    assert card.locator("output").inner_text() == cells.nth(1).get_attribute("title")
    assert complaints == []


def test_every_control_has_a_name(opened: Opened) -> None:
    page, _ = opened()
    card, *_ = translate(page, "a b")
    card.locator(".nbest button").first.click()
    card.get_by_role("table").wait_for()
    nameless = page.evaluate(
        """[...document.querySelectorAll('input, select, textarea, button, table, section, article')]
            .filter(each => !(each.ariaLabel || each.labels?.[0]?.innerText.trim() || each.innerText.trim()))
            .map(each => each.outerHTML)"""
    )
    assert nameless == []
    assert page.locator("#said").inner_text().startswith("2 of 2 models translated")
    assert page.locator("html").get_attribute("lang") == "en"
    assert card.locator(".nbest span").first.get_attribute("lang") == "tgt"


def test_what_is_refused_is_said_at_its_model(opened: Opened) -> None:
    page, _ = opened()
    cards = translate(page, "a " * 101 + "b")
    for card in cards:
        assert card.get_by_role("alert").inner_text() == (
            "a text of 203 characters: allowed are 200, split it into sentences"
        )
    assert page.locator("#said").inner_text().startswith("0 of 2 models translated")
    page.get_by_role("checkbox", name="early").uncheck()
    page.get_by_role("checkbox", name="late").uncheck()
    page.get_by_role("button", name="Translate", exact=True).click()
    page.get_by_text("Choose a model.").wait_for()


def test_a_server_that_has_gone_is_said(browser: Browser, models: dict[str, Served]) -> None:
    page = browser.new_page()
    with serving({"late": models["late"]}) as client:
        page.goto(client.address)
        page.get_by_label("late").wait_for()
    page.get_by_label("Text").fill("a b")
    page.get_by_role("button", name="Translate", exact=True).click()
    page.get_by_text("The server does not answer").wait_for()
    assert "The server does not answer: is it running?" in page.locator("body").inner_text()
    page.close()
