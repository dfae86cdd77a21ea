"""An agent that is away in the middle of a campaign: the open page says so by itself, and when it is back."""

import os
import re
import signal

import pytest
from playwright.sync_api import Page, expect

from apps.agents.models import LOST_AFTER
from tests.e2e.browsing import problems
from tests.e2e.conftest import Stack

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("stack")]

PINGS = {
    "name": "pings",
    "tool": "ping",
    "fixed": {"count": "2"},
    "factors": [{"name": "payload", "expression": "56, 128"}],
    "repetitions": 2,
    "retry_wait_s": 0,
    "max_attempts": 5,
}
# Until silence means that an agent is gone, and then some for a busy machine.
LOST_WITHIN_MS = (LOST_AFTER.total_seconds() + 30) * 1000


def test_the_page_says_that_it_waits_for_a_lost_agent_until_that_is_back(stack: Stack, page: Page) -> None:
    agent = stack.pid("agent-local-1")
    os.kill(agent, signal.SIGSTOP)
    try:
        launched = stack.launch("Waits for an agent", PINGS)
        page.goto(f"/campaigns/{launched['id']}/")
        page.evaluate("document.body.dataset.kept = 'yes'")
        status = page.locator("#campaign-status")
        expect(status.locator(".wait")).to_contain_text(
            re.compile(r"waiting for the agent on local-1 since .+ \(last heard .+\)"), timeout=LOST_WITHIN_MS
        )
        expect(status.locator(".state")).to_have_text("waiting")
        expect(status).to_contain_text("no estimate while it waits")
        expect(status).not_to_contain_text(" left")
        lost = page.locator(".topology-lost")
        expect(lost).to_contain_text("local-1")
        expect(lost).to_contain_text("agent lost")
        assert problems(page) == []
        waiting = stack.api.get(f"campaigns/{launched['id']}/")["waiting"]
        assert (waiting["reason"], waiting["is_idle"]) == ("agent-lost", True)
        assert [subject["name"] for subject in waiting["for"]] == ["local-1"]
    finally:
        os.kill(agent, signal.SIGCONT)
    expect(page.locator(".wait")).to_have_count(0)
    expect(page.locator(".topology-lost")).to_have_count(0)
    expect(page.locator("#campaign-status")).to_have_attribute("data-state", "finished", timeout=LOST_WITHIN_MS)
    expect(page.locator("#campaign-status")).to_contain_text("4 of 4 trials measured")
    assert page.evaluate("document.body.dataset.kept") == "yes"
