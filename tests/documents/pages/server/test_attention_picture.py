"""The picture of attention: what it shows is what the server says."""

import itertools
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
