"""REST: agents, enrolment tokens, jobs."""

import zlib
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.agents import services
from apps.agents.models import Agent, Job, JobOutput
from tests import factories as people
from tests.agents import factories

pytestmark = pytest.mark.django_db

READ_PATHS = ["/api/v1/agents/", "/api/v1/jobs/"]


def get(person: Any, path: str, **query: Any) -> Any:
    return Client().get(path, query, **people.bearer(person))


def post(person: Any, path: str, body: Any = None, scope: str = "write") -> Any:
    return Client().post(path, body or {}, content_type="application/json", **people.bearer(person, scope))


def test_it_wants_a_token(cast: people.Cast) -> None:
    for path in READ_PATHS:
        assert Client().get(path).status_code in (401, 403)
    assert Client().post("/api/v1/enrolment-tokens/").status_code in (401, 403)


def test_it_hides_other_teams_agents_and_jobs(cast: people.Cast) -> None:
    agent, _token = factories.agent(factories.node(cast.team))
    job = factories.job(agent.node)
    for path in READ_PATHS:
        assert get(cast.charlie, path).json()["results"] == []
    for path in (f"/api/v1/agents/{agent.pk}/", f"/api/v1/jobs/{job.pk}/", f"/api/v1/jobs/{job.pk}/output/stdout/"):
        assert get(cast.charlie, path).status_code == 404
    assert post(cast.charlie, f"/api/v1/agents/{agent.pk}/retire/").status_code == 404
    answer = post(cast.charlie, "/api/v1/enrolment-tokens/", {"node": agent.node_id})
    assert answer.status_code == 400
    assert "node" in answer.json()["fields"]


def test_viewers_operators_and_reading_tokens_only_read(cast: people.Cast) -> None:
    agent, _token = factories.agent(factories.node(cast.team))
    bare = factories.node(cast.team)
    for person, scope in ((cast.bob, "write"), (cast.oscar, "write"), (cast.alice, "read")):
        assert post(person, f"/api/v1/agents/{agent.pk}/retire/", scope=scope).status_code == 403
        assert post(person, "/api/v1/enrolment-tokens/", {"node": bare.pk}, scope=scope).status_code == 403
        headers = people.bearer(person, scope)
        assert Client().delete(f"/api/v1/agents/{agent.pk}/", **headers).status_code == 403
    agent.refresh_from_db()
    assert agent.retired_at is None


def test_it_lists_agents_by_state_and_shows_the_facts_of_one(cast: people.Cast) -> None:
    idle, _ = factories.agent(factories.node(cast.team), last_seen_at=timezone.now())
    busy, _ = factories.agent(factories.node(cast.team), last_seen_at=timezone.now())
    factories.job(busy.node, state=Job.State.DELIVERED)
    services.record_facts(agent_id=busy.pk, facts={"hostname": "one"}, version="1.0")
    listed = get(cast.bob, "/api/v1/agents/").json()["results"]
    assert [(item["id"], item["state"]) for item in listed] == [(idle.pk, "idle"), (busy.pk, "busy")]
    assert "facts" not in listed[0]
    assert [item["id"] for item in get(cast.bob, "/api/v1/agents/", state="busy").json()["results"]] == [busy.pk]
    assert get(cast.bob, "/api/v1/agents/", state="drowsy").status_code == 400
    one = get(cast.bob, f"/api/v1/agents/{busy.pk}/").json()
    assert (one["facts"], one["state"], one["node_name"]) == ({"hostname": "one"}, "busy", busy.node.name)
    assert get(cast.bob, f"/api/v1/agents/{idle.pk}/").json()["facts"] is None


def test_it_makes_enrolment_tokens(cast: people.Cast) -> None:
    node = factories.node(cast.team)
    answer = post(cast.alice, "/api/v1/enrolment-tokens/", {"node": node.pk})
    assert answer.status_code == 201
    made = answer.json()
    assert made["token"] in made["curl"]
    assert made["token"] in made["python"]
    agent, _token = services.enrol_agent(token_text=made["token"], version="1", now=timezone.now())
    assert agent.node == node
    Agent.objects.update(last_seen_at=timezone.now())
    again = post(cast.alice, "/api/v1/enrolment-tokens/", {"node": node.pk})
    assert again.status_code == 409
    assert "retire it first" in again.json()["detail"]


@pytest.mark.parametrize("body", [{}, {"node": "x"}, {"node": 10**30}, {"node": -1}, []])
def test_it_names_what_is_wrong_with_a_wish_for_a_token(cast: people.Cast, body: Any) -> None:
    answer = post(cast.alice, "/api/v1/enrolment-tokens/", body)
    assert answer.status_code == 400
    assert answer.json()["detail"]


def test_a_manager_retires_and_removes(cast: people.Cast) -> None:
    agent, _token = factories.agent(factories.node(cast.team), last_seen_at=timezone.now())
    path = f"/api/v1/agents/{agent.pk}/"
    headers = people.bearer(cast.alice)
    early = Client().delete(path, **headers)
    assert early.status_code == 409
    assert "Retire the agent" in early.json()["detail"]
    retired = post(cast.alice, f"{path}retire/")
    assert (retired.status_code, retired.json()["state"]) == (200, "retired")
    assert Client().delete(path, **headers).status_code == 204
    assert not Agent.objects.exists()


def test_it_lists_jobs_and_streams_their_output(cast: people.Cast) -> None:
    node = factories.node(cast.team)
    first = factories.job(node, "ping", "-c1", "x", run_ref=5, state=Job.State.ENDED, exit_code=0)
    second = factories.job(node, run_ref=6)
    JobOutput.objects.create(
        job=first, stdout_z=zlib.compress(b"pong\n"), stderr_z=zlib.compress(b""), stdout_bytes=5
    )
    listed = get(cast.bob, "/api/v1/jobs/").json()["results"]
    assert [item["id"] for item in listed] == [str(second.pk), str(first.pk)]
    assert [item["stdout_bytes"] for item in listed] == [None, 5]
    for query in ({"run": 5}, {"state": "ended"}, {"node": node.pk, "role": "client", "run": 5}):
        assert [item["id"] for item in get(cast.bob, "/api/v1/jobs/", **query).json()["results"]] == [str(first.pk)]
    one = get(cast.bob, f"/api/v1/jobs/{first.pk}/").json()
    assert (one["argv"], one["exit_code"], one["run_ref"]) == (["ping", "-c1", "x"], 0, 5)
    output = get(cast.bob, f"/api/v1/jobs/{first.pk}/output/stdout/")
    assert b"".join(output.streaming_content) == b"pong\n"
    assert output.headers["Content-Type"].startswith("text/plain")
    assert Client().post("/api/v1/jobs/", {}, **people.bearer(cast.alice)).status_code == 405
    assert get(cast.bob, "/api/v1/jobs/nonsense/").status_code == 404
