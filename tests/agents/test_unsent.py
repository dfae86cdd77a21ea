"""What has not arrived: reports that an agent could not send yet, and outputs that were cut on the way."""

import zlib
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client as Browser
from django.utils import timezone

from apps.agents.models import Agent, Job, JobFile, JobOutput
from tests import factories as people
from tests.agents import factories
from tests.agents.live import Client, LiveServer, wait_for
from tests.agents.test_collected import entry, finished

LONG_S = 600.0


def since() -> Any:
    return Agent.objects.get().unsent_since


@pytest.mark.django_db(transaction=True)
def test_a_poll_tells_since_when_a_report_waits(server: LiveServer) -> None:
    agent, token = factories.agent()
    client = Client(server.port, token)
    before = timezone.now()
    assert client.call("poll", {"held": [], "hold_s": 0, "unsent_s": LONG_S})[0] == 200
    wait_for(since)
    late = timezone.now() - before + timedelta(seconds=1)
    assert timedelta(0) <= since() - (before - timedelta(seconds=LONG_S)) <= late
    # Its other requests say nothing of it: neither that there is one, nor that there is none.
    heard_at = Agent.objects.get().last_seen_at
    assert client.call("clock", method="GET")[0] == 200
    job = factories.job(agent.node, state=Job.State.RUNNING)
    assert client.call(f"jobs/{job.pk}/events", finished())[0] == 200
    wait_for(lambda: Agent.objects.get().last_seen_at > heard_at)
    assert since() is not None
    assert client.call("poll", {"held": [], "hold_s": 0, "unsent_s": 0})[0] == 200
    wait_for(lambda: since() is None)


@pytest.mark.django_db(transaction=True)
def test_what_an_agent_of_an_earlier_version_does_not_say_does_not_stand_for_ever(server: LiveServer) -> None:
    _agent, token = factories.agent(unsent_since=timezone.now())
    assert Client(server.port, token).call("poll", {"held": [], "hold_s": 0})[0] == 200
    wait_for(lambda: since() is None)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("value", [-1, 1e12, "long", True, [1]])
def test_it_refuses_an_age_that_is_none(server: LiveServer, value: object) -> None:
    _agent, token = factories.agent()
    status, answer = Client(server.port, token).call("poll", {"held": [], "hold_s": 0, "unsent_s": value})
    assert (status, answer["code"]) == (400, "bad-field")
    assert "unsent_s" in answer["detail"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("state", [Job.State.RUNNING, Job.State.LOST])
def test_what_was_cut_on_the_way_is_kept_as_such(server: LiveServer, state: Job.State) -> None:
    agent, token = factories.agent()
    job = factories.job(agent.node, state=state, collect=["result.json", "log"])
    entries = [entry(truncated=True, cut_on_way=True), entry("log")]
    body = finished(collected=entries, truncated=True, cut_on_way=True)
    assert Client(server.port, token).call(f"jobs/{job.pk}/events", body)[0] == 200
    output = JobOutput.objects.get(job=job)
    assert (output.truncated, output.cut_on_way) == (True, True)
    flags = {file.name: (file.truncated, file.cut_on_way) for file in job.collected.all()}
    assert flags == {"result.json": (True, True), "log": (False, False)}


@pytest.fixture
def job(cast: people.Cast) -> Job:
    """Return a job of whose output, and of one of its two files, only head and tail have arrived."""
    agent, _token = factories.agent(factories.node(cast.team), unsent_since=timezone.now() - timedelta(hours=3))
    job = factories.job(agent.node, state=Job.State.ENDED, collect=["a", "b"], ended_at=timezone.now())
    packed = zlib.compress(b"x")
    JobOutput.objects.create(
        job=job, stdout_z=packed, stderr_z=packed, stdout_bytes=9, truncated=True, cut_on_way=True
    )
    for name, is_cut in (("a", True), ("b", False)):
        JobFile.objects.create(job=job, name=name, content_z=packed, size=9, truncated=is_cut, cut_on_way=is_cut)
    return job


@pytest.mark.django_db
def test_the_agents_page_tells_it(cast: people.Cast, job: Job) -> None:
    address = f"/agents/nodes/{job.node_id}/"
    page = people.signed_in(cast.bob).get(address).content.decode()
    assert "Oldest unsent report" in page
    assert "(cut on the way)" in page
    JobOutput.objects.all().update(cut_on_way=False)
    Agent.objects.update(unsent_since=None)
    page = people.signed_in(cast.bob).get(address).content.decode()
    assert "Oldest unsent report" not in page
    assert "(cut off at the output limit)" in page


@pytest.mark.django_db
def test_rest_tells_it(cast: people.Cast, job: Job) -> None:
    def read(path: str) -> Any:
        return Browser().get(path, **people.bearer(cast.bob)).json()

    agent = Agent.objects.get()
    told = read(f"/api/v1/agents/{agent.pk}/")["unsent_since"]
    assert told[:19] == agent.unsent_since.isoformat()[:19]
    assert read("/api/v1/agents/")["results"][0]["unsent_since"] == told
    one = read(f"/api/v1/jobs/{job.pk}/")
    assert (one["truncated"], one["cut_on_way"]) == (True, True)
    assert {file["name"]: file["cut_on_way"] for file in one["collected"]} == {"a": True, "b": False}
    assert read("/api/v1/jobs/")["results"][0]["cut_on_way"] is True
    bare = factories.job(job.node, run_ref=8)
    assert read(f"/api/v1/jobs/{bare.pk}/")["cut_on_way"] is None
