"""What the pictures show: the example inventory, agents, and a small campaign that was really measured."""

import http
import json
import secrets
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from dataclasses import dataclass
from typing import Any

from launch import home, local_agents, service
from launch.demo import agents, campaign, ground, inventory, run
from launch.demo.rest import Rest
from launch.screenshots import archive, defined_tool

Json = dict[str, Any]

USER, VIEWER = "kim", "park"
PASSWORD = secrets.token_urlsafe(12)
TEAM = "Grid"
_ENDED = ("finished", "cancelled")
_WITHIN_S = 300.0


@dataclass(frozen=True)
class Stage:
    """A running service with something on each page; `ids` are the keys that the addresses of pages take."""

    running: service.Service
    api: Rest
    ids: dict[str, int | str]


def prepare(running: service.Service, place: ground.Ground) -> Stage:
    """Fill a fresh service: people, inventory, agents, campaigns in several states; measure one."""
    _people(running)
    api = run.rest_of(running, running.manage("create_token", "--username", USER, "--name", "pictures").strip())
    team = next(row["slug"] for row in api.every("teams/") if row["name"] == TEAM)
    if place.is_lab:
        running.supervisor.add(ground.lab_process(home.ROOT, running.home))
    nodes = inventory.describe(api, place)
    for agent in agents.prepare(api, place, nodes, running.home.agents):
        running.supervisor.add(agent.process())
    campaign.wait_for_agents(api, set(nodes.values()))
    ids = _campaigns(running, api, nodes[place.client.name], nodes[place.server.name])
    api.post("inventory/example/", {"team": team})
    ids |= _inventory(api, nodes, place)
    ids |= _quiet_agents(running, api, [row["id"] for row in api.every("nodes/") if row["id"] not in nodes.values()])
    ids |= {"team": team, "agent": nodes[place.client.name], "agent_peer": nodes[place.server.name]}
    ids |= defined_tool.define(api)
    ids |= archive.fill(running, api, team, str(ids["campaign"]))
    ids["member"] = next(row["id"] for row in api.every("memberships/") if row["username"] == VIEWER)
    other = _other_team(running)
    ids["invitation"], ids["offer"] = _invitation(other, api), _offer(other, api, team)
    ids["token"] = next(row["id"] for row in api.every("tokens/"))
    ids |= _mail_tokens(running, team)
    return Stage(running, api, ids)


def _people(running: service.Service) -> None:
    make = ("create_account", "--password", PASSWORD)
    running.manage(*make, "--username", USER, "--team", TEAM, "--role", "manager")
    running.manage(*make, "--username", VIEWER, "--team", TEAM, "--role", "viewer")


def _other_team(running: service.Service) -> Rest:
    """Return the client of a manager of another team."""
    running.manage("create_account", "--password", PASSWORD, "--username", "lee", "--team", "Campus")
    token = running.manage("create_token", "--username", "lee", "--name", "pictures").strip()
    return run.rest_of(running, token)


def _invitation(other: Rest, api: Rest) -> int:
    """Return the id of an invitation of another team."""
    other.post("teams/campus/invitations/", {"username": USER})
    return int(next(row["id"] for row in api.every("invitations/")))


def _offer(other: Rest, api: Rest, team: str) -> int:
    """Return the id of an offer of another team's campaign."""
    campaign = other.post("campaigns/", {"name": "Campus backbone"})["id"]
    other.call("PUT", f"campaigns/{campaign}/sharing/", {"visibility": "shared", "shared_with": [team]})
    return int(next(row["id"] for row in api.every("campaign-offers/")))


def _mail_tokens(running: service.Service, team: str) -> dict[str, int | str]:
    """Return what the links of a mail to confirm and to stop bear, by the names of their pages."""
    code = (
        "from django.conf import settings\nfrom apps.accounts import consent, models\n"
        f"settings.PUBLIC_URL, team = 'http://fathom', models.Team.objects.get(slug={team!r})\n"
        "for link in (consent.confirm_address, consent.stop_address): print(link('lee@example.org', team))"
    )
    confirm, stop = (
        line.partition("token=")[2] for line in running.manage("shell", "-v", "0", "-c", code).splitlines()
    )
    return {"mail_confirm": confirm, "mail_stop": stop}


def _inventory(api: Rest, nodes: dict[str, int], place: ground.Ground) -> dict[str, int | str]:
    """Return an id of each kind: things of the published example, which fill their pages best."""
    ids: dict[str, int | str] = {}
    for name, kind in (
        ("site", "sites"),
        ("testbed", "testbeds"),
        ("cluster", "clusters"),
        ("switch", "switches"),
        ("link", "links"),
        ("sitepair", "site-pairs"),
        ("filesystem", "file-systems"),
    ):
        ids[name] = list(api.every(f"{kind}/"))[-1]["id"]
    ids["node"] = next(row["id"] for row in api.every("nodes/") if row["id"] not in nodes.values())
    ids["node_from"], ids["node_to"] = nodes[place.client.name], nodes[place.server.name]
    return ids


def _quiet_agents(running: service.Service, api: Rest, free: list[int]) -> dict[str, int | str]:
    """Enrol three agents that never run: retire the second; two processes introduce themselves as the third."""
    program = str(running.home.agents / local_agents.PROGRAM)
    unseen, retired, copied = free[1:4]
    for node in (unseen, retired, copied):
        token = api.post("enrolment-tokens/", {"node": node})["token"]
        argv = [sys.executable, program, "enrol", "--server", running.address, "--token", token]
        folder = running.home.folder / f"quiet-{node}"
        subprocess.run([*argv, "--dir", str(folder)], check=True, capture_output=True)
    agent = next(row["id"] for row in api.every(f"agents/?node={retired}"))
    api.post(f"agents/{agent}/retire/")
    config = json.loads((running.home.folder / f"quiet-{copied}" / "agent.json").read_text(encoding="utf-8"))
    copy = [_introduce(running, config["token"], host) for host in ("original", "copy")][-1]
    return {"unseen": unseen, "retired": retired, "copied": copied, "copy": copy}


def _introduce(running: service.Service, token: str, host: str) -> str:
    """Say hello as a process of an agent, which only the first is let in to be; return its key."""
    key = str(uuid.uuid4())
    body = json.dumps({"machine": host, "boot": host, "folder": host, "host": host, "version": "1"}).encode()
    head = {"Authorization": f"Bearer {token}", "Fathom-Instance": key, "Content-Type": "application/json"}
    request = urllib.request.Request(f"{running.address}/agent/v1/hello", body, head)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=60):  # noqa: S310
            pass
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.CONFLICT:
            raise
    return key


def _campaigns(running: service.Service, api: Rest, client: int, server: int) -> dict[str, int | str]:
    roles = [{"role": "client", "node": client}, {"role": "server", "node": server}]
    short = {"tool": "iperf3-tcp", "roles": roles, "order": "randomised", "seed": 7}
    done = _make(
        api,
        "How to fill the line to Pusan",
        "Which TCP window and how many streams fill the path, and what limits it before?",
        {
            **short,
            "name": "Window sweep",
            "fixed": {"duration": "2 s", "omit": "1 s"},
            "factors": [{"name": "window", "expression": "32KiB..4MiB x2"}],
            "repetitions": 3,
        },
        {
            **short,
            "name": "Streams at a small window",
            "fixed": {"duration": "2 s", "omit": "1 s", "window": "64 KiB"},
            "factors": [{"name": "streams", "expression": "1..8 x2"}],
            "repetitions": 3,
        },
        {"name": "Baseline RTT", "tool": "ping", "roles": roles, "fixed": {"count": "5"}, "repetitions": 2},
    )
    failing = _make(
        api,
        "A congestion control that is not there",
        "",
        {
            **short,
            "name": "Unknown congestion control",
            "fixed": {"duration": "1 s", "congestion": "nosuch"},
            "repetitions": 1,
            "max_attempts": 1,
        },
    )
    draft = _make(
        api,
        "Datagrams before the line drops them",
        "At which offered load does loss begin?",
        {
            "name": "Loss by offered load",
            "tool": "iperf3-udp",
            "roles": roles,
            "factors": [{"name": "rate", "expression": "100Mbit/s..1Gbit/s +100Mbit/s"}],
        },
    )
    nightly = _make(
        api,
        "Nightly RTT",
        "Does the path change over the weeks?",
        {"name": "RTT", "tool": "ping", "roles": roles, "repetitions": 1},
        cron="30 2 * * *",
        cron_timezone="Asia/Seoul",
    )
    # The same again and again, for the page of its history.
    days = [
        _make(
            api,
            f"RTT of day {day}",
            "",
            {"name": "RTT", "tool": "ping", "roles": roles, "fixed": {"count": "3"}, "repetitions": 2},
        )
        for day in range(1, 6)
    ]
    for launched in (done, failing, *days):
        api.post(f"campaigns/{launched}/launch/")
        _wait(api, launched)
    api.post(f"campaigns/{nightly}/launch/")
    players = {"players": roles, "values": {"duration": "2 s", "capacity": "500 Mbit/s"}}
    stages: int = api.post("campaign-templates/rfc6349/draft/", players)["id"]
    api.post(f"campaigns/{stages}/launch/")
    # Its later stages wait, and go on waiting.
    api.post(f"campaigns/{stages}/pause/")
    long = _make(
        api,
        "A long ping",
        "",
        {
            "name": "An hour",
            "tool": "ping",
            "roles": roles,
            "fixed": {"count": "600", "interval": "1 s"},
            "repetitions": 6,
        },
    )
    api.post(f"campaigns/{long}/launch/")
    experiment = next(api.every(f"experiments/?campaign={done}"))["id"]
    return {
        "campaign": done,
        "permanent_id": api.get(f"campaigns/{done}/")["permanent_id"],
        "failing": failing,
        "day": days[-1],
        "draft": draft,
        "nightly": nightly,
        "stages": stages,
        "running": long,
        "experiment": experiment,
        "draft_experiment": next(api.every(f"experiments/?campaign={draft}"))["id"],
        "trial": next(api.every(f"trials/?experiment={experiment}"))["id"],
        "failed_trial": next(api.every(f"trials/?campaign={failing}"))["id"],
        "finding": _finding(api, done),
    }


def _make(api: Rest, name: str, goal: str, *experiments: Json, **when: str) -> int:
    number: int = api.post("campaigns/", {"name": name, "goal": goal, **when})["id"]
    for body in experiments:
        api.post("experiments/", {"campaign": number, **body})
    return number


def _wait(api: Rest, number: int) -> None:
    deadline = time.monotonic() + _WITHIN_S
    while api.get(f"campaigns/{number}/")["state"] not in _ENDED:
        if time.monotonic() > deadline:
            raise campaign.DemoError(f"The campaign did not end within {_WITHIN_S:.0f} s.")
        time.sleep(0.5)


def _finding(api: Rest, number: int) -> int:
    """Return a finding of a campaign, or 0 where the ground gives the rules nothing to say."""
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        for row in api.every(f"findings/?campaign={number}"):
            finding: int = row["id"]
            return finding
        time.sleep(0.3)
    return 0
