"""Who asks a web process of its own, and what for: made in the test's database, of which that process has a copy."""

import json
from dataclasses import dataclass, field
from uuid import uuid4

from django.conf import settings as of_tests

from apps.accounts.models import User
from apps.campaigns.models import Trial
from launch import service
from tests import factories
from tests.agents import factories as make
from tests.campaigns import factories as campaigns
from tests.results import factories as results

# More than sockets buffer: a reader who takes nothing holds the download up.
SAMPLES = 30_000


@dataclass(frozen=True)
class Kind:
    """One kind of request."""

    method: str
    path: str
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)


def kinds_of_requests(cast: factories.Cast) -> dict[str, Kind]:
    """Return one request of each kind, each of which asks the database and is answered at once."""
    cookie = f"{of_tests.SESSION_COOKIE_NAME}={factories.signed_in(cast.alice).session.session_key}"
    _agent, agent_token = make.agent(make.node(cast.team, "dj-a"))
    bearer = {"Authorization": f"Bearer {agent_token}", "Content-Type": "application/json"}
    rest = {"Authorization": f"Bearer {factories.token(cast.alice)}"}
    return {
        "page": Kind("GET", "/accounts/tokens/", headers={"Cookie": cookie}),
        "REST": Kind("GET", "/api/v1/sites/", headers=rest),
        # What is held and not known here is to be stopped, so that a poll is answered at once.
        "poll": Kind("POST", "/agent/v1/poll", json.dumps({"held": [str(uuid4())]}), bearer),
        "other": Kind("GET", "/api/v1/sites/", headers={"Authorization": f"Bearer {factories.token(cast.bob)}"}),
        "anonymous": Kind("GET", "/accounts/login/", headers={"Cookie": f"{of_tests.SESSION_COOKIE_NAME}=nobody"}),
    }


def bytes_of_requests(cast: factories.Cast) -> dict[str, bytes]:
    """Return what clients send, by kind; of what takes a body only half comes."""
    wan = campaigns.wan(cast.team)
    campaign = campaigns.launched(cast, wan.left[0], wan.right[0])
    trials = list(Trial.objects.filter(campaign=campaign))
    figures = {f"figure_{number}": float(number) for number in range(SAMPLES // len(trials))}
    results.measure_all([(trial, figures) for trial in trials])
    cookie = _cookie(cast.alice)
    bearer = f"Authorization: Bearer {factories.token(cast.alice)}"
    agent, token = make.agent(make.node(cast.team, "dj-b"))
    job = make.job(agent.node)
    of_agent = f"Authorization: Bearer {token}"
    experiment = trials[0].experiment_id
    poll = json.dumps({"held": []})
    upgrade = (
        "Connection: Upgrade",
        "Upgrade: websocket",
        f"Origin: http://{service.LOOPBACK}",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    )
    half = "x" * 100_000
    return {
        "page": head("GET", "/accounts/tokens/", cookie),
        "campaign": head("GET", f"/campaigns/{campaign.pk}/", cookie),
        "download": head("GET", f"/results/experiments/{experiment}/samples.csv", cookie),
        "rest": head("GET", "/api/v1/campaigns/", bearer),
        "rest download": head("GET", f"/api/v1/experiments/{experiment}/samples.csv", bearer),
        "socket": head("GET", f"/ws/campaigns/{campaign.pk}/", cookie, *upgrade),
        "poll": head("POST", "/agent/v1/poll", of_agent, f"Content-Length: {len(poll)}") + poll.encode(),
        "upload": head("POST", "/api/v1/imports/", bearer, "Content-Length: 5000000") + half.encode(),
        "report": head("POST", f"/agent/v1/jobs/{job.pk}/events", of_agent, "Content-Length: 900000") + half.encode(),
    }


def page_requests(number: int) -> list[bytes]:
    """Return requests for a page, each of another person: one alone is not given all connections."""
    people = [factories.user(f"reader-{each}") for each in range(number)]
    return [head("GET", "/accounts/tokens/", _cookie(person)) for person in people]


def _cookie(person: User) -> str:
    return f"Cookie: {of_tests.SESSION_COOKIE_NAME}={factories.signed_in(person).session.session_key}"


def head(method: str, path: str, *lines: str) -> bytes:
    """Return a request's head."""
    host = f"Host: {service.LOOPBACK}"
    kind = "Content-Type: application/json"
    return "\r\n".join((f"{method} {path} HTTP/1.1", host, kind, *lines, "", "")).encode()
