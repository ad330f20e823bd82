"""The picture of attention: what it shows is what the server says."""

from collections.abc import Callable

import pytest
from pages.served_page import translate
from pages.serving_client import Client
from playwright.sync_api import Page

Opened = Callable[..., tuple[Page, list[str]]]


def test_attention_of_any_chain_layer_and_head_is_what_the_server_says(opened: Opened, client: Client) -> None:
    page, complaints = opened()
    _, card = translate(page, "a c b d")
    card.locator(".nbest button").first.click()
    best = client.post("/translate", {"texts": ["a c b d"], "model": "late"}).json["translations"][0]
    request = {"text": "a c b d", "pieces": best["hypotheses"][0]["pieces"], "model": "late"}
    for chain, layer, head in (("encoder-decoder", 2, 3), ("decoder", 1, 1), ("encoder", 2, 4)):
        card.get_by_label("Chain of late").select_option(chain)
        card.get_by_role("table", name=f"late, {chain} attention, layer 1").wait_for()
        card.get_by_label("Layer of late").select_option(str(layer))
        card.get_by_role("table", name=f"layer {layer}").wait_for()
        card.get_by_label("Head of late").select_option(str(head))
        card.get_by_role("table", name=f"late, {chain} attention, layer {layer}, head {head}").wait_for()
        attention = client.post("/attention", {**request, "chain": chain, "layer": layer}).json
        assert card.locator("thead th").all_inner_texts() == attention["keys"]
        assert card.locator("tbody th").all_inner_texts() == attention["queries"]
        drawn = card.locator("tbody tr").evaluate_all(
            """rows => rows.map(row => [...row.cells].slice(1).map(
                cell => Number(cell.style.getPropertyValue('--weight'))))"""
        )
        assert drawn == attention["weights"][head - 1]
    card.get_by_label("Head of late").select_option("mean")
    mean = [[sum(cells) / 4 for cells in zip(*rows, strict=True)] for rows in zip(*attention["weights"], strict=True)]
    labels = card.locator("tbody td").evaluate_all("cells => cells.map(cell => cell.ariaLabel)")
    assert [float(label) for label in labels] == pytest.approx([cell for row in mean for cell in row], abs=0.006)
    assert complaints == []


def test_after_a_refusal_no_head_shows_what_was_drawn_before(opened: Opened) -> None:
    page, _ = opened()
    _, card = translate(page, "a c b d")
    card.locator(".nbest button").first.click()
    card.get_by_role("table").wait_for()
    page.route("**/attention", lambda route: route.fulfill(status=422, json={"error": "too many weights"}))
    card.get_by_label("Chain of late").select_option("decoder")
    card.get_by_text("too many weights").wait_for()
    card.get_by_label("Head of late").select_option("1")
    assert card.get_by_role("table").count() == 0
    page.unroute("**/attention")
