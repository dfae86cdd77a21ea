"""A headless Chromium that notes whatever goes wrong in its pages."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Response, sync_playwright

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
# What a browser cuts off itself when one leaves a page, or turns into a download, did not fail.
_CUT_OFF = "net::ERR_ABORTED"
# Chromium breaks everything off when an interface of the machine comes or goes, as with a lab that is taken down.
_NOT_THE_PAGES = (_CUT_OFF, "net::ERR_NETWORK_CHANGED")


class BrowserError(RuntimeError):
    """No browser to look with; the text says what to install."""


def executable() -> str:
    """Return the path of Chromium; BrowserError if there is none."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not path:
        raise BrowserError("Chromium is missing (Debian: apt-get install chromium).")
    return path


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start Chromium with an empty profile, and stop it at the end."""
    path = executable()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class Watcher:
    """Notes what a page complains about: console, content policy, requests that fail, statuses from 400 on.

    `allow` names the addresses (less the query) of which an error status is what one wants to see.
    """

    def __init__(self, page: Page) -> None:
        self.complaints: list[str] = []
        self._allowed: set[str] = set()
        self._page = page
        page.on("console", self._console)
        page.on("pageerror", lambda error: self._note(f"uncaught: {error}"))
        page.on("requestfailed", self._failed)
        page.on("response", self._response)

    def allow(self, url: str) -> None:
        """Expect an error status of this address."""
        self._allowed.add(_bare(url))

    def take(self) -> list[str]:
        """Return the complaints since the last call."""
        complaints, self.complaints = self.complaints, []
        return complaints

    def _note(self, text: str) -> None:
        self.complaints.append(f"{urlsplit(self._page.url).path}: {text}")

    def _console(self, message: ConsoleMessage) -> None:
        expected = _bare(message.location.get("url", "")) in self._allowed
        expected = expected or any(reason in message.text for reason in _NOT_THE_PAGES)
        if message.type in ("error", "warning") and not expected:
            self._note(f"console {message.type}: {message.text}")

    def _failed(self, request: Request) -> None:
        if request.failure not in _NOT_THE_PAGES:
            self._note(f"{request.method} {request.url} failed: {request.failure}")

    def _response(self, response: Response) -> None:
        if response.status >= 400 and _bare(response.url) not in self._allowed:
            self._note(f"{response.request.method} {response.url}: {response.status}")


def _bare(url: str) -> str:
    return url.partition("#")[0].partition("?")[0]
