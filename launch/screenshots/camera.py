"""Take the pictures: each page once, then light and dark, desktop and phone."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from django.template import loader
from django.urls import reverse
from playwright.sync_api import Browser, BrowserContext, Error, Page

from launch import supervisor
from launch.screenshots.browser import Watcher, open_browser
from launch.screenshots.pages import Shot
from launch.screenshots.stage import PASSWORD, USER, VIEWER, Stage

THEMES = ("light", "dark")
WIDTHS = {"desktop": (1280, 800), "phone": (390, 844)}
# A page that grows without end is shown to here.
_HIGHEST = 4000
# Time for what a change of theme or width moves (ms).
_SETTLE_MS = 150


def take(stage: Stage, shots: list[Shot], folder: Path) -> list[str]:
    """Take the pictures into `folder` and return what went wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    complaints: list[str] = []
    with open_browser() as browser:
        contexts = {True: sign_in(browser, stage, USER), False: _context(browser, stage)}
        stage.ids.update(_linked_keys(contexts[True].new_page(), int(stage.ids["trial"])))
        for shot in shots:
            if not stage.running.supervisor.pids():
                # Somebody stopped the service: there is nothing to look at any more.
                raise supervisor.Stopped
            complaints += _shoot(contexts[shot.signed_in], stage, shot, folder)
        complaints += _shoot_refusals(browser, stage, folder)
    supervisor.print_event("pictures", f"{len(list(folder.glob('*.png')))} taken")
    return complaints


def take_readme(stage: Stage, file: Path) -> None:
    """Take the picture of README.md: a finished campaign's page with its chart."""
    with open_browser() as browser:
        page = sign_in(browser, stage, USER).new_page()
        page.set_viewport_size({"width": 1120, "height": 1180})
        page.goto(_address(stage, Shot("", "campaigns:campaign_detail", "campaign")))
        settle(page)
        file.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=file)


def sign_in(browser: Browser, stage: Stage, username: str) -> BrowserContext:
    """Return a context with a session of a person."""
    context = _context(browser, stage)
    page = context.new_page()
    page.goto("/accounts/login/")
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(lambda url: "login" not in url)
    page.close()
    return context


def settle(page: Page) -> None:
    """Wait until what the page loads by itself is there."""
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(_SETTLE_MS)


def _context(browser: Browser, stage: Stage) -> BrowserContext:
    return browser.new_context(base_url=stage.running.address, locale="en-GB", reduced_motion="reduce")


def _linked_keys(page: Page, trial: int) -> dict[str, int | str]:
    """Return the keys that pages link and REST does not tell: facts of a node, a lane, a pair of sites; 0 if none."""
    linked: dict[str, int | str] = {}
    for address, part, names in (
        (f"/results/trials/{trial}/", "/agents/facts/", ("facts",)),
        (reverse("history:list"), "/history/", ("lane",)),
        (reverse("tuning:sites"), "/sites/", ("site_a", "site_b")),
    ):
        page.goto(address)
        links = [link.get_attribute("href") or "" for link in page.locator(f"main a[href*='{part}']").all()]
        keys = next((keys for link in links if (keys := re.findall(r"\d+", urlsplit(link).path))), ["0"] * len(names))
        linked |= {name: int(key) for name, key in zip(names, keys[-len(names) :], strict=True)}
    page.close()
    return linked


def _address(stage: Stage, shot: Shot) -> str:
    path = shot.path or reverse(shot.view, args=[stage.ids[key] for key in shot.key.split()])
    return f"{path}?{shot.query.format_map(stage.ids)}" if shot.query else path


def _shoot(context: BrowserContext, stage: Stage, shot: Shot, folder: Path) -> Iterator[str]:
    """Take one page's pictures; yield what it complains about."""
    if shot.key and not all(stage.ids[key] for key in shot.key.split()):
        return
    page = context.new_page()
    watcher = Watcher(page)
    address = _address(stage, shot)
    if shot.status != 200:
        watcher.allow(stage.running.address + address)
    try:
        answer = page.goto(address)
        if shot.act:
            shot.act(page)
        elif answer and answer.status != shot.status:
            yield f"{shot.name}: status {answer.status} instead of {shot.status}"
        yield from _four(page, shot.name, folder)
    except Error as error:
        yield f"{shot.name}: {error.message}"
    yield from watcher.take()
    page.close()


def _four(page: Page, name: str, folder: Path) -> Iterator[str]:
    for width, (across, down) in WIDTHS.items():
        page.set_viewport_size({"width": across, "height": down})
        for theme in THEMES:
            page.emulate_media(color_scheme="dark" if theme == "dark" else "light", reduced_motion="reduce")
            settle(page)
            tall = min(_HIGHEST, int(page.evaluate("document.documentElement.scrollHeight")))
            page.set_viewport_size({"width": across, "height": max(tall, down)})
            page.screenshot(path=folder / f"{name}-{theme}-{width}.png")
            page.set_viewport_size({"width": across, "height": down})
        wider = int(page.evaluate("document.documentElement.scrollWidth")) - across
        if wider > 0:
            yield f"{name}: {wider} px wider than the {width}'s {across} px"


def _shoot_refusals(browser: Browser, stage: Stage, folder: Path) -> Iterator[str]:
    """Take the error pages that need a special visitor: a viewer, a stale form, a broken page, a locked account."""
    context = sign_in(browser, stage, VIEWER)
    yield from _shoot(context, stage, Shot("error-403", "campaigns:cancel", "running", status=403), folder)
    context.close()
    page = _context(browser, stage).new_page()
    page.goto("/accounts/login/")
    page.context.clear_cookies()
    page.get_by_role("button", name="Sign in", exact=True).click()
    yield from _four(page, "error-csrf", folder)
    page.route("**/broken/", lambda route: route.fulfill(status=500, content_type="text/html", body=_broken()))
    page.goto("/broken/")
    yield from _four(page, "error-500", folder)
    page.goto("/accounts/login/")
    while page.get_by_label("Password").count():
        page.get_by_label("Username").fill("nobody")
        page.get_by_label("Password").fill("wrong")
        with page.expect_navigation():
            page.get_by_role("button", name="Sign in", exact=True).click()
    yield from _four(page, "error-locked", folder)


def _broken() -> str:
    """Return the page of an error on our side, which no address of a sound service shows."""
    return str(loader.get_template("errors/500.html").render())
