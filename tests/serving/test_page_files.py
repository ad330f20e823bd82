"""The page in a real browser: on a desk and on a phone, by day and by night, by mouse and by keyboard."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import browsers
import pytest
from playwright.sync_api import Browser, Locator, Page
from serving_client import Client, serving
from tiny_run import Training

import realformer_nmt
from realformer_nmt.serving.limits import Limits
from realformer_nmt.serving.served import Served
from realformer_nmt.serving.translator import Translator

PHONE, DESK = (390, 844), (1280, 900)
HOSTILE = "a <img src=x onerror=document.title='run'> <script>document.title='run'</script> b"
Opened = Callable[..., tuple[Page, list[str]]]


@pytest.fixture(scope="module")
def models(once: Callable[..., Path], fairseq: Any, user_dir: Path, toy_corpus: Path) -> dict[str, Served]:
    """Two of one language pair, one whose name is hostile, and one that is said to be of another pair."""
    run = once("tiny_run", Training(fairseq, user_dir, toy_corpus))
    names = {"early": "checkpoint4.pt", "late": "checkpoint5.pt", HOSTILE: "checkpoint5.pt"}
    options = {"data": toy_corpus, "subwords": "none", "cpu": True}
    found = {name: realformer_nmt.load(run / file, **options) for name, file in names.items()}
    late = found["late"]
    turned = replace(late.corpus, source="tgt", target="src")
    found["back"] = Translator(late.checkpoints, turned, late.device)
    return {name: Served(name, translator, "fp32", "realformer", (2, 2)) for name, translator in found.items()}


@pytest.fixture(scope="module")
def client(models: dict[str, Served]) -> Iterator[Client]:
    with serving(models, Limits(most_characters=200)) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsers.started() as started:
        yield started


@pytest.fixture
def opened(browser: Browser, client: Client) -> Iterator[Opened]:
    """opened(size, scheme) -> the page, and what it complained of or asked of others."""
    contexts = []

    def show(size: tuple[int, int] = DESK, scheme: str = "light") -> tuple[Page, list[str]]:
        viewport = {"width": size[0], "height": size[1]}
        contexts.append(browser.new_context(viewport=viewport, color_scheme=scheme))
        page, told = contexts[-1].new_page(), []
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("request", lambda asked: told.append(asked.url) if not asked.url.startswith(client.address) else None)
        page.goto(client.address)
        page.get_by_role("checkbox", name="early").wait_for()
        return page, told

    yield show
    for context in contexts:
        context.close()


def translate(page: Page, text: str, nbest: int = 1) -> list[Locator]:
    """The cards of the models."""
    page.get_by_label("Text").fill(text)
    page.get_by_label("Translations of each sentence").fill(str(nbest))
    page.get_by_role("button", name="Translate", exact=True).click()
    page.get_by_text("translated, in").wait_for()
    return page.get_by_role("article").all()


def shown(card: Locator) -> list[str]:
    return card.locator(".nbest button span").all_inner_texts()


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_two_models_translate_side_by_side(
    opened: Opened, models: dict[str, Served], size: tuple[int, int], scheme: str
) -> None:
    page, told = opened(size, scheme)
    texts = ["a c b d", "f e"]
    cards = translate(page, "\n".join(texts), nbest=2)
    for card, name in zip(cards, ("early", "late"), strict=True):
        found = models[name].translator.stream(texts, nbest=2)
        assert shown(card) == [each.text for hypotheses in found for each in hypotheses]
        assert card.locator(".source").all_inner_texts() == texts
        assert "realformer, 2-2 layers" in card.inner_text()
        card.locator(".nbest button").first.click()
        card.get_by_role("table").wait_for()
    (first, second) = (card.bounding_box() for card in cards)
    assert first
    assert second
    assert (first["y"] == second["y"]) == (size == DESK)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert told == []


def test_the_languages_choose_among_the_models(opened: Opened) -> None:
    page, told = opened()
    languages, boxes = page.get_by_label("Languages"), page.get_by_role("checkbox")
    assert languages.locator("option").all_inner_texts() == ["src \u2192 tgt", "tgt \u2192 src"]
    assert boxes.evaluate_all("boxes => boxes.map(box => box.value)") == ["early", "late", HOSTILE]
    languages.select_option("tgt \u2192 src")
    assert boxes.evaluate_all("boxes => boxes.map(box => box.value)") == ["back"]
    assert boxes.is_checked()
    assert told == []


def test_attention_of_any_chain_layer_and_head_is_what_the_server_says(opened: Opened, client: Client) -> None:
    page, told = opened()
    _, card = translate(page, "a c b d")
    card.locator(".nbest button").first.click()
    best = client.post("/translate", {"texts": ["a c b d"], "model": "late"}).json["translations"][0]
    asked = {"text": "a c b d", "pieces": best["hypotheses"][0]["pieces"], "model": "late"}
    for chain, layer, head in (("encoder-decoder", 2, 3), ("decoder", 1, 1), ("encoder", 2, 4)):
        card.get_by_label("Chain of late").select_option(chain)
        card.get_by_role("table", name=f"late, {chain} attention, layer 1").wait_for()
        card.get_by_label("Layer of late").select_option(str(layer))
        card.get_by_role("table", name=f"layer {layer}").wait_for()
        card.get_by_label("Head of late").select_option(str(head))
        card.get_by_role("table", name=f"late, {chain} attention, layer {layer}, head {head}").wait_for()
        found = client.post("/attention", {**asked, "chain": chain, "layer": layer}).json
        assert card.locator("thead th").all_inner_texts() == found["keys"]
        assert card.locator("tbody th").all_inner_texts() == found["queries"]
        drawn = card.locator("tbody tr").evaluate_all(
            """rows => rows.map(row => [...row.cells].slice(1).map(
                cell => Number(cell.style.getPropertyValue('--weight'))))"""
        )
        assert drawn == found["weights"][head - 1]
    card.get_by_label("Head of late").select_option("mean")
    mean = [[sum(cells) / 4 for cells in zip(*rows, strict=True)] for rows in zip(*found["weights"], strict=True)]
    labels = card.locator("tbody td").evaluate_all("cells => cells.map(cell => cell.ariaLabel)")
    assert [float(label) for label in labels] == pytest.approx([cell for row in mean for cell in row], abs=0.006)
    assert told == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_larger_weight_is_further_from_the_ground(opened: Opened, scheme: str) -> None:
    page, _ = opened(scheme=scheme)
    card, *_ = translate(page, "a c b d")
    card.locator(".nbest button").first.click()
    cells = card.locator("tbody td")
    cells.first.wait_for()
    painted = cells.evaluate_all(
        """cells => cells.map(cell => {
            const context = new OffscreenCanvas(1, 1).getContext('2d')
            const light = colour => {
                context.fillStyle = colour
                context.fillRect(0, 0, 1, 1)
                return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).reduce((sum, each) => sum + each)
            }
            const ground = light(getComputedStyle(document.body).backgroundColor)
            const weight = Number(cell.style.getPropertyValue('--weight'))
            return [weight, Math.abs(light(getComputedStyle(cell).backgroundColor) - ground)]
        })"""
    )
    by_weight = [distance for _, distance in sorted(painted)]
    assert all(one <= other + 6 for one, other in itertools.pairwise(by_weight))  # of rounded colours
    assert by_weight[-1] > by_weight[0] + 50


def test_all_of_it_works_by_keyboard(opened: Opened) -> None:
    page, told = opened()
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
    assert told == []


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


def test_hostile_text_is_text(opened: Opened) -> None:
    """In a model's name, in what is translated, and as a piece at a picture's edge."""
    page, told = opened(PHONE)
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
    assert told == []


def test_the_policy_runs_no_script_even_where_one_stands_in_the_page(opened: Opened) -> None:
    """As if a text had come through as markup."""
    page, told = opened()
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
    assert sum("Content Security Policy" in line for line in told) >= 3


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
