"""How processes of agents are let in over HTTP, and what those that are not may do."""

import http.client
import json
import time
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.agents import services
from apps.agents.models import Agent, AgentInstance, FactSnapshot, Job
from tests.agents import factories
from tests.agents.live import Call, Client, LiveServer, wait_for
from tests.agents.test_protocol import finished

pytestmark = pytest.mark.django_db(transaction=True)

PLACE = {"machine": "m", "boot": "b", "folder": "f", "host": "dj-a", "version": "1.2"}


class Process:
    """What a process of an agent says, each request with its number in the head."""

    def __init__(self, server: LiveServer, token: str) -> None:
        self.client = Client(server.port, token)
        self.key = str(uuid.uuid4())

    def call(self, path: str, body: Any = None, **head: str) -> tuple[int, dict[str, Any]]:
        return self.client.call(path, body, **{"Fathom-Instance": self.key, **head})

    def poll(self, number: int, **more: Any) -> tuple[int, dict[str, Any]]:
        return self.call("poll", {"held": [], "poll": number, "hold_s": 0, **more})


@pytest.fixture
def token(server: LiveServer) -> str:
    return factories.agent()[1]


@pytest.fixture
def first(server: LiveServer, token: str) -> Process:
    process = Process(server, token)
    assert process.call("hello", PLACE) == (200, {})
    return process


def test_one_that_was_not_let_in_is_told_to_introduce_itself(server: LiveServer, token: str) -> None:
    process = Process(server, token)
    for path in ("poll", "facts"):
        status, answer = process.call(path, {"held": [], "facts": {}})
        assert (status, answer["code"]) == (409, "unknown-instance")
    assert process.call("hello", PLACE) == (200, {})
    assert process.poll(1) == (200, {"jobs": [], "stop": []})


def test_a_second_one_is_refused_in_words_and_changes_nothing(server: LiveServer, token: str, first: Process) -> None:
    assert first.poll(1)[0] == 200
    second = Process(server, token)
    status, answer = second.call("hello", {**PLACE, "folder": "other", "host": "dj-b"})
    assert (status, answer["code"]) == (409, "other-instance")
    assert "dj-a (127.0.0.1), heard" in answer["detail"]
    assert second.call("facts", {"facts": {"hostname": "dj-b"}})[0] == 409
    assert not FactSnapshot.objects.exists()
    job = factories.job(Agent.objects.get().node)
    assert second.poll(1)[0] == 409
    assert [one["id"] for one in first.poll(2)[1]["jobs"]] == [str(job.pk)]
    status, answer = second.call(f"jobs/{job.pk}/events", finished())
    assert (status, answer["code"]) == (409, "other-instance")
    assert AgentInstance.objects.get(key=second.key).refused_reports == 1
    assert first.call(f"jobs/{job.pk}/events", finished())[1]["state"] == "ended"
    # A program of an earlier version, which has no number at all, is no other.
    status, answer = Client(server.port, token).call("poll", {"held": []})
    assert (status, answer["code"]) == (409, "other-instance")


def test_a_second_one_keeps_no_silent_agent_alive(server: LiveServer, token: str, first: Process) -> None:
    assert first.poll(1)[0] == 200
    wait_for(lambda: Agent.objects.filter(last_seen_at__isnull=False))
    time.sleep(3)
    before = Agent.objects.get().last_seen_at
    second = Process(server, token)
    second.call("hello", {**PLACE, "folder": "other"})
    assert second.call("clock")[0] == 200
    second.poll(1)
    time.sleep(3)
    assert Agent.objects.get().last_seen_at == before


@pytest.mark.parametrize("path", ["hello", "clock", "facts", "events"])
def test_what_a_proxy_repeats_is_no_sign_of_life(first: Process, path: str) -> None:
    agent = Agent.objects.get()
    bodies = {"hello": PLACE, "facts": {"facts": {"hostname": "dj-a"}}, "events": finished()}
    address = f"jobs/{factories.job(agent.node).pk}/events" if path == "events" else path
    heard = []
    for number in (8, 9, 9, 8):
        Agent.objects.update(last_seen_at=timezone.now() - timedelta(seconds=20))
        assert first.call(address, bodies.get(path), **{"Fathom-Request": f"{number:x}-{'0' * 32}"})[0] == 200
        time.sleep(2.5)
        heard.append(timezone.now() - Agent.objects.get().last_seen_at < timedelta(seconds=10))
    assert heard == [True, True, False, False]


def test_a_waiting_poll_is_told_when_another_is_chosen(server: LiveServer, token: str, first: Process) -> None:
    second = Process(server, token)
    second.call("hello", {**PLACE, "folder": "other"})
    waiting = Call(_With(first), "poll", {"held": [], "poll": 1})
    time.sleep(1)
    agent = Agent.objects.get()
    services.choose_instance(agent=agent, key=uuid.UUID(second.key), now=timezone.now())
    status, answer = waiting.wait(20)
    assert (status, answer["code"]) == (409, "unknown-instance")
    assert second.poll(1)[0] == 200


def test_one_that_leaves_is_followed_at_once(server: LiveServer, token: str, first: Process) -> None:
    assert first.call("leave") == (200, {})
    second = Process(server, token)
    assert second.call("hello", {**PLACE, "machine": "elsewhere"}) == (200, {})


def test_a_repeated_poll_is_answered_at_once_and_takes_no_job(first: Process) -> None:
    assert first.poll(5)[0] == 200
    job = factories.job(Agent.objects.get().node)
    for number in (5, 4):
        assert first.call("poll", {"held": [], "poll": number}) == (200, {"jobs": [], "stop": [], "repeated": True})
    job.refresh_from_db()
    assert job.state == Job.State.QUEUED


def test_troubles_come_with_polls_and_with_reports(first: Process) -> None:
    full = [{"code": "work-full", "detail": "0 KiB"}]
    assert first.poll(1, troubles=full)[0] == 200
    assert Agent.objects.get().set_aside_at is not None
    assert first.poll(2, troubles=[])[0] == 200
    assert Agent.objects.get().set_aside_at is None
    job = factories.job(Agent.objects.get().node)
    assert first.poll(3)[1]["jobs"]
    assert first.call(f"jobs/{job.pk}/events", finished(troubles=full))[0] == 200
    assert Agent.objects.get().set_aside_at is not None
    assert first.poll(4, troubles=[])[0] == 200
    assert Agent.objects.get().set_aside_at is None


@pytest.mark.parametrize(
    ("path", "body", "name"),
    [
        ("hello", {"machine": 3}, "machine"),
        ("poll", {"poll": -1}, "poll"),
        ("poll", {"poll": "x"}, "poll"),
        ("poll", {"hold_s": "x"}, "hold_s"),
        ("poll", {"troubles": {}}, "troubles"),
        ("poll", {"troubles": [{}]}, "troubles[0]"),
        ("poll", {"troubles": [{"code": "x"}] * 21}, "troubles"),
        ("poll", {"troubles": [{"code": "x", "detail": 3}]}, "detail"),
        ("poll", {"clock": {"offset_s": 0, "error_s": 0, "set_s": "x"}}, "set_s"),
    ],
)
def test_it_names_what_is_wrong(first: Process, path: str, body: dict[str, Any], name: str) -> None:
    status, answer = first.call(path, body)
    assert (status, answer["code"]) == (400, "bad-field")
    assert f"“{name}”" in answer["detail"]


def test_a_number_that_is_none_is_refused(server: LiveServer, token: str) -> None:
    client = Client(server.port, token)
    assert client.call("poll", {}, **{"Fathom-Instance": "x"})[1]["code"] == "bad-field"
    for path in ("hello", "leave"):
        assert client.call(path, {})[1]["code"] == "bad-field"


def test_a_clock_that_was_set_moves_no_time(first: Process) -> None:
    job = factories.job(Agent.objects.get().node)
    assert first.poll(1)[1]["jobs"]
    began = timezone.now().timestamp()
    # Of a node whose clock was put an hour ahead in mid-job: the agent's own time goes on as before.
    times = {"started_at": began, "ended_at": began + 2.0}
    report = finished(**times, clock={"offset_s": 0.5, "error_s": 0.001, "set_s": 3600.0})
    assert first.call(f"jobs/{job.pk}/events", report)[0] == 200
    job.refresh_from_db()
    assert job.started_at.timestamp() == pytest.approx(began + 0.5, abs=0.01)
    assert (job.ended_at - job.started_at).total_seconds() == pytest.approx(2.0, abs=0.01)
    assert job.clock_offset_s == pytest.approx(-3599.5), "by so much the node's own clock is off"


class _With:
    """A client whose requests bear a process's number, for `Call`."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def call(self, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        return self._process.call(path, body)


def test_a_refused_one_is_told_when_to_come_again(server: LiveServer, token: str, first: Process) -> None:
    assert first.poll(1)[0] == 200
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    head = {"Authorization": f"Bearer {token}", "Fathom-Instance": str(uuid.uuid4())}
    for heard_s, least, most in ((0, 25, 31), (20, 5, 11)):
        wait_for(lambda: Agent.objects.get().last_seen_at)
        Agent.objects.update(last_seen_at=timezone.now() - timedelta(seconds=heard_s))
        connection.request("POST", "/agent/v1/hello", json.dumps({**PLACE, "folder": "other"}), head)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 409
        assert least <= int(answer.headers["Retry-After"]) <= most
    # Nobody else is sent away for a time.
    connection.request("POST", "/agent/v1/poll", json.dumps({"held": []}), head)
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Retry-After"]) == (409, None)
