"""Agents' endpoints over real HTTP: clock, facts, polls and reports; what is refused, and in which words."""

import base64
import time
import uuid
import zlib
from typing import Any

import pytest
from django.utils import timezone

from apps.agents import services
from apps.agents.models import Agent, Job
from apps.testbeds.models import NodeAddress
from tests.agents import factories
from tests.agents.live import Call, Client, LiveServer, wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def ask(server: LiveServer, token: str = "") -> Client:
    return Client(server.port, token)


def packed(text: bytes) -> str:
    return base64.b64encode(zlib.compress(text)).decode()


def finished(**more: Any) -> dict[str, Any]:
    now = time.time()
    return {
        "event": "finished",
        "started_at": now - 1,
        "ended_at": now,
        "exit_code": 0,
        "stdout": packed(b"hello\n"),
        "stderr": packed(b""),
        "stdout_bytes": 6,
        "clock": {"offset_s": 0.5, "error_s": 0.001},
        **more,
    }


def test_it_gives_the_times_of_a_clock_exchange(server: LiveServer) -> None:
    _agent, token = factories.agent()
    before = time.time()
    status, answer = ask(server, token).call("clock", method="GET")
    assert status == 200
    assert before <= answer["received"] <= answer["sent"] <= time.time()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"\xff\xfe",
        b'{"facts": NaN}',
        b"[" * 100_000,
        b'{"facts": []}',
        b'{"facts": {}, "version": 3}',
        b'{"facts": {"a": ' + b"[" * 20 + b"]" * 20 + b"}}",
        b'{"facts": {"hostname": 1}}',
        b'{"facts": {"memory": {"ram_bytes": "much"}}}',
        b'{"facts": {"interfaces": {}}}',
        b'{"facts": {"interfaces": ["eth0"]}}',
        b'{"facts": {"interfaces": [{"addresses": "10.0.0.1"}]}}',
        b'{"facts": {"sysctls": []}}',
        b'{"facts": {"sysctls": {"net.ipv4.tcp_rmem": 3}}}',
        b'{"facts": {"tools": {"ping": "/bin/ping"}}}',
    ],
)
def test_it_refuses_facts_that_are_none(server: LiveServer, body: bytes) -> None:
    _agent, token = factories.agent()
    status, answer = ask(server, token).call("facts", body)
    assert status == 400
    assert answer["detail"]


def test_it_keeps_facts_and_a_new_row_only_when_they_changed(server: LiveServer) -> None:
    agent, token = factories.agent()
    client = ask(server, token)
    facts = {"hostname": "a\0b\ud800", "cpu": {"cores": 2}}
    assert client.call("facts", {"facts": facts, "version": "1.1"}) == (200, {"changed": True})
    assert client.call("facts", {"facts": facts, "version": "1.1"}) == (200, {"changed": False})
    assert client.call("facts", {"facts": {"cpu": {"cores": 4}}})[1] == {"changed": True}
    agent.refresh_from_db()
    assert agent.facts.facts == {"cpu": {"cores": 4}}
    assert agent.node.fact_snapshots.last().facts["hostname"] == "ab?"
    assert [snapshot.facts["cpu"]["cores"] for snapshot in agent.node.fact_snapshots.all()] == [4, 2]


def test_it_keeps_no_number_without_an_end(server: LiveServer) -> None:
    agent, token = factories.agent()
    body = b'{"facts": {"load": 1e999, "memory": {"ram_bytes": 1' + b"0" * 30 + b"}}}"
    assert ask(server, token).call("facts", body)[0] == 200
    agent.refresh_from_db()
    assert agent.facts.facts == {"load": None, "memory": {"ram_bytes": None}}


def test_it_refuses_what_is_too_large(server: LiveServer) -> None:
    _agent, token = factories.agent()
    assert ask(server, token).call("facts", b" " * (1024 * 1024 + 1))[0] == 413
    assert ask(server).call("enrol", b" " * 20_000)[0] == 413


def test_it_refuses_addresses_and_methods_it_does_not_know(server: LiveServer) -> None:
    _agent, token = factories.agent()
    client = ask(server, token)
    assert client.call("nothing")[0] == 404
    assert client.call("jobs/7/events", finished())[0] == 404
    assert client.call(f"jobs/{uuid.uuid4()}/events", finished())[1]["code"] == "unknown-job"
    other = factories.job(factories.node())
    assert client.call(f"jobs/{other.pk}/events", finished())[0] == 404
    assert client.call("poll", method="GET")[0] == 405


@pytest.mark.parametrize(
    "wrong",
    [
        {"event": "exploded"},
        {"ended_at": None},
        {"ended_at": "now"},
        {"ended_at": 1e9999},
        {"ended_at": 9e9, "clock": {"offset_s": 9e9 * 100, "error_s": 0}},
        {"ended_at": -9e10},
        {"clock": 3},
        {"clock": {"offset_s": 1}},
        {"exit_code": "0"},
        {"exit_code": -1},
        {"exit_code": 2**40},
        {"stdout": 3},
        {"stdout": "%%%"},
        {"stdout": base64.b64encode(b"not zlib").decode()},
        {"stdout": base64.b64encode(zlib.compress(b"cut short" * 100)[:-6]).decode()},
        {"fault": 3},
    ],
)
def test_it_names_what_is_wrong_with_a_report(server: LiveServer, wrong: dict[str, Any]) -> None:
    agent, token = factories.agent()
    job = factories.job(agent.node, state=Job.State.RUNNING)
    status, answer = ask(server, token).call(f"jobs/{job.pk}/events", {**finished(), **wrong})
    assert status == 400
    assert answer["code"] in ("bad-field", "bad-json")
    job.refresh_from_db()
    assert job.state == Job.State.RUNNING


def test_it_keeps_the_most_absurd_times_it_accepts(server: LiveServer) -> None:
    agent, token = factories.agent()
    for value in (1.0, 3.6e9):
        job = factories.job(agent.node, state=Job.State.RUNNING)
        report = finished(started_at=value, ended_at=value, clock={"offset_s": value, "error_s": 1})
        assert ask(server, token).call(f"jobs/{job.pk}/events", report) == (
            200,
            {"job": str(job.pk), "event": "finished", "state": "ended"},
        )
        job.refresh_from_db()
        assert job.ended_at.timestamp() == pytest.approx(2 * value)


@pytest.mark.parametrize("wrong", [{"held": 3}, {"held": ["x"]}, {"stopping": [None]}, {"clock": {"offset_s": "a"}}])
def test_it_names_what_is_wrong_with_a_poll(server: LiveServer, wrong: dict[str, Any]) -> None:
    _agent, token = factories.agent()
    status, answer = ask(server, token).call("poll", wrong)
    assert (status, answer["code"]) == (400, "bad-field")


def test_it_hands_a_waiting_agent_its_job_at_once(server: LiveServer) -> None:
    agent, token = factories.agent()
    poll = Call(ask(server, token), "poll")
    time.sleep(0.5)
    queued = time.monotonic()
    job = factories.job(agent.node, "iperf3", "-s", background=True, ready_pattern="listening")
    status, answer = poll.wait()
    assert status == 200
    assert poll.ended_at - queued < 0.5
    assert answer["stop"] == []
    (handed,) = answer["jobs"]
    assert handed == {
        "id": str(job.pk),
        "argv": ["iperf3", "-s"],
        "background": True,
        "ready_pattern": "listening",
        "time_limit_s": 10.0,
        "output_limit_bytes": 16 * 2**20,
        "start_at": None,
        "files": [],
        "collect": [],
        "environment": [],
        "address": "",
        "inventory": [],
        "team": str(agent.node.team_id),
    }
    job.refresh_from_db()
    assert job.state == Job.State.DELIVERED


def test_it_hands_out_again_what_was_lost_on_the_way_and_not_what_is_held(server: LiveServer) -> None:
    agent, token = factories.agent()
    job = factories.job(agent.node)
    client = ask(server, token)
    first = client.call("poll")[1]["jobs"]
    again = client.call("poll")[1]["jobs"]
    assert first == again
    second = factories.job(agent.node)
    handed = client.call("poll", {"held": [str(job.pk)]})[1]["jobs"]
    assert [item["id"] for item in handed] == [str(second.pk)]


def test_it_takes_reports_in_server_time_and_repeats_change_nothing(server: LiveServer) -> None:
    agent, token = factories.agent()
    job = factories.job(agent.node, background=True, ready_pattern="x")
    client = ask(server, token)
    client.call("poll")
    address = f"jobs/{job.pk}/events"
    clock = {"offset_s": 100.0, "error_s": 0.002}
    began = time.time()
    assert client.call(address, {"event": "started", "started_at": began, "clock": clock})[1]["state"] == "running"
    job.refresh_from_db()
    assert job.started_at.timestamp() == pytest.approx(began + 100, abs=1e-5)
    assert (job.clock_offset_s, job.clock_error_s) == (100.0, 0.002)
    ready = {"event": "ready", "started_at": began, "ready_at": began + 1, "clock": clock}
    assert client.call(address, ready)[1]["state"] == "ready"
    assert client.call(address, {"event": "started", "started_at": 5})[1]["state"] == "ready"
    end = finished(started_at=began, ready_at=began + 1, ended_at=began + 2, signal=15, exit_code=None, clock=clock)
    assert client.call(address, end) == (200, {"job": str(job.pk), "event": "finished", "state": "ended"})
    stored = Job.objects.filter(pk=job.pk).values().get()
    assert stored["ended_at"].timestamp() == pytest.approx(began + 102, abs=1e-5)
    assert (stored["exit_code"], stored["signal"]) == (None, 15)
    assert client.call(address, finished(exit_code=9, stdout=packed(b"other")))[1]["state"] == "ended"
    assert Job.objects.filter(pk=job.pk).values().get() == stored
    job = Job.objects.select_related("output").get(pk=job.pk)
    assert zlib.decompress(job.output.stdout_z) == b"hello\n"


def test_it_stops_what_is_to_be_stopped_and_says_so_once(server: LiveServer) -> None:
    agent, token = factories.agent()
    job = factories.job(agent.node, state=Job.State.RUNNING, run_ref=11)
    held = {"held": [str(job.pk)]}
    poll = Call(ask(server, token), "poll", held)
    time.sleep(0.3)
    assert services.request_stop(run_ref=11, now=timezone.now()) == 1
    assert poll.wait()[1] == {"jobs": [], "stop": [str(job.pk)]}
    poll = Call(ask(server, token), "poll", {**held, "stopping": held["held"]})
    time.sleep(2.0)
    assert poll.result is None, "the sweep woke the poll for a stop that the agent knows of"
    factories.job(agent.node)
    assert len(poll.wait()[1]["jobs"]) == 1


def test_it_gives_up_a_job_that_the_agent_does_not_know(server: LiveServer) -> None:
    agent, token = factories.agent()
    job = factories.job(agent.node, state=Job.State.READY)
    Call(ask(server, token), "poll")
    lost = wait_for(Job.objects.filter(pk=job.pk, state=Job.State.LOST).first)
    assert lost.fault == "outcome-gone"


def test_it_stops_a_job_that_has_ended_here_while_the_agent_was_away(server: LiveServer) -> None:
    agent, token = factories.agent()
    job = factories.job(agent.node, state=Job.State.LOST)
    assert ask(server, token).call("poll", {"held": [str(job.pk)]})[1]["stop"] == [str(job.pk)]


def test_a_newer_poll_of_the_same_agent_ends_the_older(server: LiveServer) -> None:
    _agent, token = factories.agent()
    older = Call(ask(server, token), "poll")
    time.sleep(0.3)
    newer = Call(ask(server, token), "poll")
    assert older.wait() == (200, {"jobs": [], "stop": []})
    assert newer.result is None


def test_it_writes_down_when_it_heard_an_agent(server: LiveServer) -> None:
    agent, token = factories.agent()
    Call(ask(server, token), "poll", {"clock": {"offset_s": 3.0, "error_s": 0.01}})
    seen = wait_for(lambda: Agent.objects.filter(pk=agent.pk, last_seen_at__isnull=False).first())
    assert (seen.clock_offset_s, seen.clock_error_s) == (3.0, 0.01)
    assert abs((timezone.now() - seen.last_seen_at).total_seconds()) < 5


def test_a_job_says_which_of_its_addresses_are_nodes_own(server: LiveServer) -> None:
    agent, token = factories.agent()
    for place in ("192.0.2.7", "2001:db8::7", "dtn.example.org", "192.0.2.9", "192.0.2.5"):
        NodeAddress.objects.create(node=factories.node(agent.node.team), address=place, confirmed_at=timezone.now())
    NodeAddress.objects.create(node=factories.node(), address="192.0.2.99")  # Another team's: not told of.
    urls = "file:///dev/zero ftp://192.0.2.9:5000/x\nftp://192.0.2.99/y z"
    argv = ("irtt", "client", "--local=[2001:db8::7]", "dtn.example.org:2112", "192.0.2.8", "ping", "192.0.2.7")
    factories.job(agent.node, *argv, files=(("p", urls),), environment=(("GLOBUS_HOSTNAME", "192.0.2.5"),))
    (handed,) = ask(server, token).call("poll", {})[1]["jobs"]
    assert handed["inventory"] == ["192.0.2.5", "192.0.2.7", "192.0.2.9", "2001:db8::7", "dtn.example.org"]
