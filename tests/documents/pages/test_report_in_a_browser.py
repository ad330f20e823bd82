"""The report as a reader sees it: in a real browser, on a desk and on a phone, by day and by night."""

from collections.abc import Callable, Iterator

import pytest
from fixture_types import Once
from grids.sample_results import Results, changed, sample
from pages import browsers
from playwright.sync_api import Page

from realformer_nmt.comparison.report import document

PHONE, DESK = (390, 844), (1280, 900)
REPORTS: dict[str, Callable[[], Results]] = {
    "sample": lambda: sample(seeds=2),
    "long": lambda: changed(sample(seeds=1), lambda text: f"synthesizer_factorised_{text}"),
}
Opened = Callable[..., tuple[Page, list[str]]]


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browsers.started() as browser:
        yield browser.new_page()


@pytest.fixture(scope="module")
def written(once: Once) -> Callable[[str], str]:
    """written(name) -> the address of that report, which is made once."""

    def address(name: str) -> str:
        folder = once(f"report of {name}", lambda folder: document.write(REPORTS[name](), folder))
        return (folder / "report.html").as_uri()

    return address


@pytest.fixture
def opened(page: Page, written: Callable[[str], str]) -> Iterator[Opened]:
    """opened(name, size, scheme) -> the page, all details open, and what it complained of or asked for."""
    addresses: list[str] = []

    def show(name: str, size: tuple[int, int] = DESK, scheme: str = "light") -> tuple[Page, list[str]]:
        addresses[:] = [written(name)]
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(color_scheme=scheme)
        page.goto(*addresses)
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        return page, complaints

    with browsers.watched(page, lambda: addresses[0]) as complaints:
        yield show


def width(page: Page) -> int:
    return page.evaluate("document.documentElement.scrollWidth")


@pytest.mark.parametrize(("size", "scheme"), [(DESK, "light"), (PHONE, "dark")], ids=["desk", "phone"])
def test_every_plot_is_drawn(opened: Opened, size: tuple[int, int], scheme: str) -> None:
    results = REPORTS["sample"]()
    page, complaints = opened("sample", size, scheme)
    assert complaints == []
    assert width(page) <= size[0]
    boxes = page.eval_on_selector_all("svg", "all => all.map(each => each.getBoundingClientRect().toJSON())")
    curves = sum(4 if cell.shortcuts else 3 for cell in results.cells)
    assert len(boxes) == 2 + 1 + 2 + curves  # training a depth, by depth, validation a depth
    assert all(box["width"] > 200 and box["height"] > 100 and box["right"] <= size[0] for box in boxes)


def test_the_stuck_model_is_seen_at_the_first_look(opened: Opened) -> None:
    """A desk shows its curve, a phone what became of it, before anything is scrolled or unfolded."""
    page, _ = opened("sample", DESK)
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = false)")
    curve = page.locator("figure .learning", has_text="post_ln-18-s1: stuck").first.bounding_box()
    line = page.locator("figure .unigrams").nth(1).bounding_box()
    assert curve
    assert line
    assert curve["y"] + curve["height"] < DESK[1]
    assert curve["y"] < line["y"] < DESK[1]
    page, _ = opened("sample", PHONE)
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = false)")
    failure = page.locator(".fallen li").bounding_box()
    assert failure
    assert failure["y"] + failure["height"] < PHONE[1]


def test_the_switch_shows_one_table_at_a_time(opened: Opened) -> None:
    page, _ = opened("sample", PHONE)
    for place, label in [(0, "sacreBLEU"), (1, "chrF2"), (2, "validation loss"), (0, "sacreBLEU")]:
        page.locator(".switch label", has_text=label).click()
        shown = page.locator(".pane").evaluate_all("all => all.map(each => each.offsetHeight > 0)")
        assert shown == [number == place for number in range(3)]
    page.locator("#metric-0").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".pane-1").is_visible()


def test_a_phone_shows_p_and_that_the_table_goes_on(opened: Opened) -> None:
    page, _ = opened("long", PHONE)
    box = page.locator(".pane-0")
    outer = box.bounding_box()
    assert outer
    rows = box.locator("tr").filter(has=page.locator("td, th:nth-child(4)"))
    for row in rows.all():
        p = row.locator("> *").nth(3).bounding_box()  # after family, score and difference
        assert p
        assert p["x"] + p["width"] <= outer["x"] + outer["width"] <= PHONE[0]
    assert box.locator("thead th").nth(3).text_content() == "p (Holm)"
    inner, shown = box.evaluate("box => [box.scrollWidth, box.clientWidth]")
    assert (inner > shown) == page.locator(".more").is_visible()
    assert "scrolls" in (page.locator(".more").text_content() or "")


def test_a_wide_table_scrolls_in_its_own_box(opened: Opened) -> None:
    page, _ = opened("sample", PHONE)
    page.locator(".pane-0").evaluate("box => { box.scrollLeft = 1000 }")
    family = page.locator(".pane-0 tbody th[scope=row]").first.bounding_box()
    assert family
    assert family["x"] >= 0  # the family stays in sight
    assert width(page) <= PHONE[0]


def test_on_a_desk_the_whole_table_is_seen(opened: Opened) -> None:
    page, _ = opened("sample", DESK)
    inner, outer = page.locator(".pane-0").evaluate("box => [box.scrollWidth, box.clientWidth]")
    assert inner <= outer
    assert not page.locator(".more").is_visible()


def test_the_policy_runs_no_script_even_where_one_stands_in_the_page(opened: Opened) -> None:
    """The scripts stand in the page as if a text had come through unescaped."""
    page, complaints = opened("sample")
    title = page.title()
    page.evaluate(
        """() => {
            const script = document.createElement("script")
            script.textContent = "document.title = 'run'"
            document.body.append(script)
            document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=\\"document.title='run'\\">")
            document.body.insertAdjacentHTML("beforeend", "<a href=\\"javascript:document.title='run'\\">run</a>")
            document.body.lastChild.click()
        }"""
    )
    assert page.title() == title
    assert sum("Content Security Policy" in line for line in complaints) >= 3
