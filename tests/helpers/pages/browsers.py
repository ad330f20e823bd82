"""A real browser: $CHROMIUM, or what is on the path."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Dialog, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")


# Pictures by the processor, and no process begun for a page that may never come
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-features=SpareRendererForSitePerProcess"]


@contextmanager
def started() -> Iterator[Browser]:
    executable = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if not executable:
        pytest.fail("no browser: apt-get install chromium, or set CHROMIUM", pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def watched(page: Page, address: Callable[[], str]) -> Iterator[list[str]]:
    """Yield what the page complains of, and what it asks for beyond an address."""
    complaints: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        complaints.append(dialog.message)
        dialog.dismiss()

    listeners: dict[str, Callable[..., None]] = {
        "console": lambda message: complaints.append(message.text),
        "pageerror": lambda error: complaints.append(str(error)),
        "dialog": dismiss,
        "request": lambda request: None if request.url.startswith(address()) else complaints.append(request.url),
    }
    for event, listener in listeners.items():
        page.on(event, listener)  # type: ignore[call-overload]
    yield complaints
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
