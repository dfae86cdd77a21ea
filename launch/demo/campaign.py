"""The demo's campaign: defined, launched, watched and shown over REST."""

import time
from typing import Any

from launch.demo import sample, show
from launch.demo.rest import Rest, act

Json = dict[str, Any]

POLL_S = 0.5
AGENTS_WITHIN_S = 30.0


class DemoError(RuntimeError):
    """A campaign that cannot go on; the text says why."""


def wait_for_agents(api: Rest, nodes: set[int]) -> None:
    """Wait until every node's agent is idle; DemoError names those that are not."""
    deadline = time.monotonic() + AGENTS_WITHIN_S
    while True:
        states = {agent["node"]: agent["state"] for agent in api.every("agents/")}
        away = {node for node in nodes if states.get(node) not in ("idle", "busy")}
        if not away:
            return
        if time.monotonic() > deadline:
            raise DemoError(f"The agents of the nodes {sorted(away)} did not report; see var/log/agent-*.log.")
        time.sleep(0.2)


def cancel_left_over(api: Rest) -> int:
    """Cancel what an interrupted demo left unfinished, which would be carried out first; return how many."""
    left = [
        campaign
        for state in ("running", "paused")
        for campaign in api.every(f"campaigns/?state={state}")
        if campaign["name"] == sample.NAME
    ]
    for campaign in left:
        act(api, f"campaigns/{campaign['id']}/", "cancel", lambda row: row["state"] not in ("running", "paused"))
    return len(left)


def define(api: Rest, client: int, server: int) -> Json:
    """Make the sample campaign between two nodes and launch it."""
    campaign = _make(api, "campaigns/", "state=draft", {"name": sample.NAME, "goal": sample.GOAL})
    of_it = {"campaign": campaign["id"]}
    for experiment in sample.experiments(client, server):
        _make(api, "experiments/", f"campaign={campaign['id']}", of_it | experiment)
    return act(api, f"campaigns/{campaign['id']}/", "launch", lambda row: row["state"] != "draft")


def _make(api: Rest, path: str, among: str, body: Json) -> Json:
    """Make what may be there by the same name, from an earlier run; return it."""

    def named() -> list[Json]:
        return [row for row in api.every(f"{path}?{among}") if row["name"] == body["name"]]

    earlier = {row["id"] for row in named()}
    made: Json = api.post(path, body, find=lambda: next((row for row in named() if row["id"] not in earlier), None))
    return made


def watch(api: Rest, campaign: Json) -> Json:
    """Show a campaign's progress until it ends, and return it as it then is."""
    bar = show.Progress()
    try:
        while True:
            campaign = _show(api, campaign["id"], bar)
            if campaign["state"] in ("finished", "cancelled"):
                return campaign
            time.sleep(POLL_S)
    finally:
        bar.end()


def _show(api: Rest, pk: int, bar: show.Progress) -> Json:
    campaign: Json = api.get(f"campaigns/{pk}/")
    running = next(api.every(f"trials/?campaign={pk}&state=running"), None)
    names = {row["id"]: row["name"] for row in api.every(f"experiments/?campaign={pk}")}
    bar.show(campaign["progress"], names.get(running["experiment"], "") if running else "")
    return campaign


def report(api: Rest, campaign: Json) -> str:
    """Return the tables of results and the recommendation, as text."""
    parts = []
    for experiment in api.every(f"experiments/?campaign={campaign['id']}"):
        parts.append(show.table(experiment, api.get(f"experiments/{experiment['id']}/results/")))
    deadline = time.monotonic() + 10
    while not (findings := list(api.every(f"findings/?campaign={campaign['id']}"))) and time.monotonic() < deadline:
        time.sleep(0.2)
    parts.append("Recommendation")
    parts += [show.finding(item) for item in findings]
    if not findings:
        parts.append("  none: the window and the streams made no difference that the rules know how to explain.")
    return "\n\n".join(parts)
