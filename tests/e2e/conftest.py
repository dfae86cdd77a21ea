"""The whole service as real processes on a folder of its own, with two real agents on this machine."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from launch import service
from launch.demo import agents, campaign, ground, inventory
from launch.demo.rest import Rest
from launch.screenshots.browser import BrowserError, Watcher, executable, open_browser
from tests import interfaces
from tests.e2e.browsing import sign_in
from tests.launch import migrated as patterns

PASSWORD = "correct horse battery"
# Said with what is made, for a test may give the account another team.
TEAM = "grid"
Opener = Callable[..., Page]
# A measurement on a machine that does much else meanwhile.
PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)


@dataclass(frozen=True)
class Stack:
    """A running service, its REST client (a manager's), and the ids of its two nodes."""

    running: service.Service
    api: Rest
    nodes: dict[str, int]

    def pid(self, part: str) -> int:
        """Return the process number of a part."""
        return self.running.supervisor.pids()[part]

    def launch(self, name: str, *experiments: dict[str, Any]) -> dict[str, Any]:
        """Define and launch a campaign between the two nodes."""
        made = self.api.post("campaigns/", {"name": name, "team": TEAM})
        first, second = self.nodes.values()
        roles = [{"role": "client", "node": first}, {"role": "server", "node": second}]
        for body in experiments:
            self.api.post("experiments/", {"campaign": made["id"], "roles": roles, **body})
        launched: dict[str, Any] = self.api.post(f"campaigns/{made['id']}/launch/")
        return launched

    def wait_until(self, campaign_id: int, *, done: int | None = None, within_s: float = 90) -> dict[str, Any]:
        """Wait until so many trials are done (all and the campaign ended, unless given); return the campaign."""
        deadline = time.monotonic() + within_s
        while True:
            found: dict[str, Any] = self.api.get(f"campaigns/{campaign_id}/")
            progress = found["progress"]
            finished = progress["succeeded"] + progress["failed"]
            if (done is not None and finished >= done) or found["state"] in ("finished", "cancelled"):
                return found
            assert time.monotonic() < deadline, found
            # Each look is an answer of the web process, which has a processor to share with what is measured.
            time.sleep(0.8)


def _servers_of_its_own() -> mock._patch_dict:
    """Return a context without the test run's servers: this service starts its own, so that they can be killed."""
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    return mock.patch.dict(os.environ, kept, clear=True)


@pytest.fixture(scope="package")
def stack(migrated: Path) -> Iterator[Stack]:
    """Start the service, describe two nodes and start their agents."""
    if not shutil.which("ping") or not shutil.which("iperf3"):
        pytest.skip("ping and iperf3 are needed; as root the set-up installs them")
    with tempfile.TemporaryDirectory(prefix="fathom e2e ") as name:
        folder = Path(name)
        # Jobs of agents run as another user, who has to pass through.
        folder.chmod(0o711)
        patterns.copy_to(folder, migrated / patterns.VAR)
        running = service.Service(folder, with_agents=False, report=lambda _part, _text: None)
        with _servers_of_its_own():
            running.start()
        try:
            yield _prepare(running)
        finally:
            running.stop()


def _prepare(running: service.Service) -> Stack:
    who = ("--username", "alice")
    running.manage("create_account", *who, "--team", "Grid", "--role", "manager", "--password", PASSWORD)
    api = Rest(running.address, running.manage("create_token", *who, "--name", "e2e").strip())
    place = ground.loopback()
    nodes = inventory.describe(api, place)
    for agent in agents.prepare(api, place, nodes, running.home.agents):
        running.supervisor.add(agent.process())
    campaign.wait_for_agents(api, set(nodes.values()))
    return Stack(running, api, nodes)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """Start the browser, or say what is missing."""
    try:
        executable()
    except BrowserError as error:
        pytest.skip(str(error))
    with open_browser() as browser:
        yield browser


def _context(chromium: Browser, stack: Stack, **options: Any) -> BrowserContext:
    """Return a browser profile of its own."""
    # Each picture of something that moves takes its time of a processor that measures meanwhile.
    options |= {"base_url": stack.running.address, "locale": "en-GB", "reduced_motion": "reduce"}
    context = chromium.new_context(**options)
    context.set_default_timeout(PATIENCE_MS)
    return context


@pytest.fixture(scope="package")
def signed_in(chromium: Browser, stack: Stack) -> Iterator[BrowserContext]:
    """Return the profile in which the manager is signed in: in each new one all scripts are compiled again."""
    context = _context(chromium, stack)
    with interfaces.held():
        page = context.new_page()
        sign_in(page, "alice", PASSWORD)
        page.close()
    yield context
    context.close()


@pytest.fixture
def open_page(chromium: Browser, stack: Stack) -> Iterator[Opener]:
    """Return a function that opens a page, in a profile of its own unless one is given; none may complain in the end.

    Until then no interface of the machine changes: Chromium would break its requests off.
    """
    opened: list[tuple[Page | BrowserContext, Watcher]] = []

    def opener(profile: BrowserContext | None = None, **options: Any) -> Page:
        context = profile or _context(chromium, stack, **options)
        page = context.new_page()
        opened.append((page if profile else context, Watcher(page)))
        return page

    with interfaces.held():
        yield opener
        complaints = [text for _, watcher in opened for text in watcher.take()]
        for closed, _ in opened:
            closed.close()
    assert complaints == []


@pytest.fixture
def page(open_page: Opener, signed_in: BrowserContext) -> Page:
    """Return the first page, on which the manager is signed in."""
    page = open_page(signed_in)
    page.goto("/campaigns/")
    return page
