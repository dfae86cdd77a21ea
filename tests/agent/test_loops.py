"""The agent's loops beside a server that answers oddly; the server is played, for no real one would do so."""

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.live import wait_for
from workers.agent import agent, config, facts, remote


class Played:
    """A server's answers by path; what is asked is kept."""

    def __init__(self, **answers: Callable[[], dict[str, Any]]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def call(self, path: str, body: dict[str, Any] | None = None, timeout_s: float = 10.0) -> dict[str, Any]:
        self.asked.append(path)
        if path in self.answers:
            return self.answers[path]()
        return {"received": time.time(), "sent": time.time()}

    def close(self) -> None:
        pass


def refuse() -> dict[str, Any]:
    raise remote.Refused(413, "too-large", "The request is larger than 1048576 bytes.")


def linger() -> dict[str, Any]:
    time.sleep(0.05)
    return {"jobs": [], "stop": []}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[agent.Agent]:
    # Orphans are adopted by a whole process, and this one is the test run's.
    monkeypatch.setattr(agent.OFFSPRING, "adopt", lambda: False)
    config.save(tmp_path, config.Config("http://127.0.0.1:9", "token"))
    found = agent.Agent(tmp_path)
    yield found
    found.closing.set()


def begin(made: agent.Agent, server: Played, loop: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made, "remote", lambda: server)
    threading.Thread(target=loop, daemon=True).start()


def test_facts_that_are_refused_are_logged(
    made: agent.Agent, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server = Played(facts=refuse)
    made.admission.ask(server)
    begin(made, server, made.upkeep.run, monkeypatch)
    wait_for(lambda: server.asked.count("facts") > 1)
    assert "The server refuses the clock's question or the facts: The request is larger" in caplog.text


def test_facts_that_cannot_be_gathered_do_not_end_the_loop(
    made: agent.Agent, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failures = iter([RuntimeError("odd")])
    real = facts.Collector.collect

    def collect(*words: Any) -> dict[str, Any]:
        for failure in failures:
            raise failure
        return real(*words)

    monkeypatch.setattr(facts.Collector, "collect", collect)
    server = Played()
    made.admission.ask(server)
    begin(made, server, made.upkeep.run, monkeypatch)
    wait_for(lambda: "facts" in server.asked)
    assert "RuntimeError: odd" in caplog.text


def test_an_answer_that_cannot_be_used_does_not_end_the_polling(
    made: agent.Agent, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    answers = iter([{"jobs": [{"id": "../../etc"}]}])
    server = Played(poll=lambda: next(answers, None) or linger())
    begin(made, server, made._poll_for_ever, monkeypatch)
    wait_for(lambda: server.asked.count("poll") > 2)
    assert "The server handed out something that is no job" in caplog.text
    assert not list(made.spool)


def test_a_job_that_the_disk_does_not_take_is_left_to_the_server(
    made: agent.Agent, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(_job: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(made.spool, "accept", full)
    limits = {"time_limit_s": 5, "output_limit_bytes": 1000}
    job = {"id": "0b9d3c4e-0000-4000-8000-000000000001", "argv": ["say"], **limits}
    server = Played(poll=lambda: {"jobs": [job], "stop": []})
    begin(made, server, made._poll_for_ever, monkeypatch)
    wait_for(lambda: server.asked.count("poll") > 1)
    assert "the spool cannot be written: No space left on device" in caplog.text


def test_a_clock_without_times_means_that_the_server_is_away(
    made: agent.Agent, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server = Played(clock=lambda: {"received": "now"})
    begin(made, server, made._poll_for_ever, monkeypatch)
    wait_for(lambda: server.asked.count("clock") > 1)
    assert "the server's clock gave no times" in caplog.text


def test_a_status_that_cannot_be_written_is_only_logged(
    made: agent.Agent, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (made.folder / "status.json.new").mkdir()
    server = Played(poll=linger)
    begin(made, server, made._poll_for_ever, monkeypatch)
    wait_for(lambda: server.asked.count("poll") > 1)
    assert "The status cannot be written: Is a directory" in caplog.text


def test_a_job_that_arrives_while_the_agent_ends_is_not_carried_out(made: agent.Agent) -> None:
    made._close()
    job = {"id": str(uuid.uuid4()), "argv": ["ping", "-c", "9", "127.0.0.1"], "time_limit_s": 30}
    made._take({"jobs": [{**job, "output_limit_bytes": 1000}], "stop": []})
    record = next(iter(made.spool))
    wait_for(lambda: record.is_finished, 3)
    assert record.facts["fault"] == "agent-restarted"
    assert "pid" not in record.facts


def test_nothing_is_told_of_the_node_before_the_process_is_let_in(
    made: agent.Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Played()
    begin(made, server, made.upkeep.run, monkeypatch)
    time.sleep(1.5)
    assert "facts" not in server.asked
    made.admission.ask(server)
    wait_for(lambda: "facts" in server.asked)


def test_a_server_that_answers_nothing_at_once_is_not_asked_without_a_pause(
    made: agent.Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Played(poll=lambda: {"jobs": [], "stop": []})
    begin(made, server, made._poll_for_ever, monkeypatch)
    wait_for(lambda: "poll" in server.asked)
    time.sleep(2.5)
    assert server.asked.count("poll") <= 4


def test_one_that_is_refused_stops_its_jobs(made: agent.Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    refusals = iter([remote.Refused(409, "other-instance", "Another process works for dj-a.")])

    def hello() -> dict[str, Any]:
        for refusal in refusals:
            raise refusal
        return {}

    stopped = threading.Event()
    monkeypatch.setattr(made, "_stop_all", stopped.set)
    server = Played(hello=hello, poll=linger)
    begin(made, server, made._poll_for_ever, monkeypatch)
    wait_for(lambda: "poll" in server.asked)
    assert stopped.is_set()
    assert server.asked.count("hello") == 2


def test_one_that_the_server_hears_twice_introduces_itself_anew(
    made: agent.Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[str] = []

    def hello() -> dict[str, Any]:
        keys.append(made.instance.key)
        return {}

    server = Played(hello=hello, poll=lambda: {**linger(), "repeated": True})
    begin(made, server, made._poll_for_ever, monkeypatch)
    wait_for(lambda: len(keys) == 2)
    assert keys[0] != keys[1]
