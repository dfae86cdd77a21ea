"""Large files sent from a page: how far that is, what comes of it, and a line that breaks."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, FilePayload, Page, Route, expect

from tests.bench.tools import recordings
from tests.e2e.browsing import problems

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("stack")]
PING = Path(recordings.DATA) / "ping" / "ok.txt"
# Half a megabyte by 150 kB/s: long enough to be seen on its way.
FILLER: FilePayload = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"nothing a tool prints\n" * 25_000}
BYTES_PER_S = 150_000


def send_slowly(page: Page) -> None:
    """Have what the page sends go through a narrow line."""
    narrow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": BYTES_PER_S}
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", narrow)


def test_one_sees_how_far_a_file_is_and_lands_on_what_was_found_in_it(page: Page) -> None:
    page.goto("/imports/new/")
    page.wait_for_load_state()
    send_slowly(page)
    page.locator("[name=sent]").set_input_files([FILLER, _payload(PING)])
    button = page.get_by_role("button", name="Send", exact=True)
    button.click()
    expect(button).to_be_disabled()
    expect(page.locator("[data-upload-progress]")).to_be_visible()
    expect(page.locator("[data-upload-percent]")).to_have_text(re.compile(r"^([1-9]|[1-9][0-9]) %$"))
    page.wait_for_url(re.compile(r"/imports/\d+/"))
    expect(page.locator("main")).to_contain_text(PING.name)
    expect(page.locator("main")).to_contain_text("notes.txt")


def test_what_is_wrong_with_a_form_comes_back_with_it(signed_in: BrowserContext) -> None:
    # A form that is refused has an error status, of which a browser complains.
    page = signed_in.new_page()
    page.goto("/imports/new/")
    page.wait_for_load_state()
    page.locator("[name=name]").fill("Kept")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator("main")).to_contain_text("Choose the files to import.")
    expect(page.locator("[name=name]")).to_have_value("Kept")
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_enabled()
    assert problems(page) == []
    page.close()


def test_a_line_that_breaks_is_told_and_the_form_can_be_sent_again(page: Page) -> None:
    page.goto("/imports/new/")
    page.wait_for_load_state()
    page.locator("[name=sent]").set_input_files(_payload(PING))

    def break_off(route: Route) -> None:
        if route.request.method == "POST":
            route.abort("aborted")
        else:
            route.continue_()

    page.route("**/imports/new/", break_off)
    button = page.get_by_role("button", name="Send", exact=True)
    button.click()
    expect(page.locator("#toasts")).to_contain_text("The service does not answer")
    expect(page.locator("[data-upload-progress]")).to_be_hidden()
    page.unroute("**/imports/new/")
    button.click()
    page.wait_for_url(re.compile(r"/imports/\d+/"))
    expect(page.locator("main")).to_contain_text(PING.name)


def _payload(path: Path) -> FilePayload:
    return {"name": path.name, "mimeType": "text/plain", "buffer": path.read_bytes()}
