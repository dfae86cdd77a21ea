"""A site's own benchmark without code: defined, allowed on a node, swept there for real, judged by its condition."""

import json
import os
import re
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from launch.local_agents import LocalAgent
from tests.e2e.browsing import PHONE, problems
from tests.e2e.conftest import Stack

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("stack")]

DATA = Path(__file__).parents[1] / "data" / "custom"
PROGRAM = shutil.which("openssl") or ""


@pytest.fixture(scope="module")
def allowed(stack: Stack) -> Stack:
    """Allow the program on one node, as its owner would, and start its agent again."""
    if not PROGRAM:
        pytest.skip("openssl is needed")
    agent = LocalAgent(stack.running.home.agents / "local-1")
    agent.allow({"programs": {"openssl": PROGRAM}})
    os.kill(stack.pid("agent-local-1"), signal.SIGTERM)
    deadline = time.monotonic() + 60
    while "openssl" not in facts_of(stack).get("tools", {}):
        assert time.monotonic() < deadline
        time.sleep(0.5)
    return stack


@pytest.fixture(scope="module")
def defined(allowed: Stack) -> Stack:
    """Give the team its own tool, from a file."""
    made = allowed.api.post("team-tools/import/", {"file": (DATA / "site-digest.yaml").read_text()})
    assert made["slug"] == "site-digest"
    return allowed


def facts_of(stack: Stack) -> dict[str, Any]:
    """Return what the agent of the node told last."""
    agent = next(stack.api.every(f"agents/?node={stack.nodes['local-1']}"))
    return stack.api.get(f"agents/{agent['id']}/")["facts"] or {}


def sweep(stack: Stack, tool: str, **values: Any) -> dict[str, Any]:
    """Launch a campaign of one experiment with a tool on the node and wait for its end."""
    made = stack.api.post("campaigns/", {"name": f"Digests with {tool} {time.monotonic_ns()}"})
    roles = [{"role": "node", "node": stack.nodes["local-1"]}]
    body = {"campaign": made["id"], "name": "blocks", "tool": tool, "roles": roles, **values}
    stack.api.post("experiments/", body)
    stack.api.post(f"campaigns/{made['id']}/launch/")
    return stack.wait_until(made["id"])


def test_it_is_swept_on_a_real_agent(defined: Stack) -> None:
    factors = [{"name": "block", "expression": "64 B, 16 KiB"}]
    ended = sweep(defined, "site-digest.v1", factors=factors, repetitions=2)
    assert ended["state"] == "finished"
    assert ended["progress"]["succeeded"] == 4
    experiment = next(defined.api.every(f"experiments/?campaign={ended['id']}"))
    groups = defined.api.get(f"experiments/{experiment['id']}/results/")["groups"]
    means = [group["mean"] for group in groups]
    # A digest of small blocks is slower: the figures are the program's, and of the right blocks.
    assert len(means) == 2
    assert 1e6 < means[0] < means[1] < 1e12
    job = next(
        job for job in defined.api.every(f"jobs/?node={defined.nodes['local-1']}") if job["argv"][0] == "openssl"
    )
    assert job["argv"][1:4] == ["speed", "-seconds", "1"]


def test_a_condition_of_the_next_version_refuses_what_it_measured(defined: Stack) -> None:
    versions = defined.api.get("team-tools/site-digest/versions/")
    definition = {**versions[0]["definition"], "conditions": ["speed > 900 TB/s"]}
    made = defined.api.post("team-tools/site-digest/versions/", {"definition": definition, "note": "Strict"})
    assert made["slug"] == "site-digest.v2"
    ended = sweep(defined, "site-digest.v2", repetitions=1)
    assert ended["progress"]["failed"] == 1
    trial = next(defined.api.every(f"trials/?campaign={ended['id']}"))
    assert "speed > 900 TB/s" in json.dumps(trial["reason"])
    assert not trial["reason"]["retryable"]


def test_a_program_that_no_agent_allows_is_said(allowed: Stack) -> None:
    definition = {"name": "Not allowed", "program": "dd", "metrics": [{"name": "rate", "where": r"(\d+)"}]}
    made = allowed.api.post("team-tools/", {"slug": "not-allowed", "definition": definition})
    ended = sweep(allowed, f"{made['slug']}.v1", repetitions=1)
    assert ended["progress"]["failed"] == 1
    trial = next(allowed.api.every(f"trials/?campaign={ended['id']}"))
    assert "dd" in json.dumps(trial["reason"])


def test_it_is_defined_in_the_browser_and_tried_as_one_types(allowed: Stack, page: Page) -> None:
    page.get_by_role("link", name="Tools", exact=True).click()
    page.get_by_role("link", name="Define a tool").first.click()
    page.get_by_label("Short name").fill("site-zero")
    page.get_by_label("Name", exact=True).first.fill("dd")
    page.get_by_label("Program", exact=True).fill("dd")
    page.locator("#id_arguments").fill("if=/dev/zero\nof=/dev/null\nbs={block}\ncount=100")
    row = page.locator("[data-rows=parameters] .tool-row").first
    row.get_by_label("Name").fill("block")
    row.get_by_label("Default").fill("64 KiB")
    page.locator("[data-rows=metrics] [data-add-row]").click()
    row = page.locator("[data-rows=metrics] .tool-row").last
    row.get_by_label("Name").fill("rate")
    row.get_by_label("Printed in").fill("B/s")
    row.get_by_label("Pattern or path").fill(r", (?P<value>[\d.]+) (?P<unit>[kMGT]?B/s)$")
    expect(page.locator("#tool-preview")).to_contain_text("bs=65536")
    page.locator("#id_output").fill("104857600 bytes (105 MB) copied, 0.01 s, 12.5 GB/s\n")
    expect(page.locator("#tool-preview")).to_contain_text(re.compile(r"12\.5\d* GB/s"))
    assert problems(page) == []
    page.get_by_role("button", name="Define", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("site-zero.v1")
    assert problems(page) == []
    page.set_viewport_size(PHONE)
    assert problems(page) == []
