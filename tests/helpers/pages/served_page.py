"""Use the server's page in a browser."""

from playwright.sync_api import Locator, Page

PHONE, DESK = (390, 844), (1280, 900)
HOSTILE = "a <img src=x onerror=document.title='run'> <script>document.title='run'</script> b"


def translate(page: Page, text: str, nbest: int = 1) -> list[Locator]:
    """The cards of the models."""
    page.get_by_label("Text").fill(text)
    page.get_by_label("Translations of each sentence").fill(str(nbest))
    page.get_by_role("button", name="Translate", exact=True).click()
    page.get_by_text("translated, in").wait_for()
    return page.get_by_role("article").all()


def shown(card: Locator) -> list[str]:
    return card.locator(".nbest button span").all_inner_texts()
