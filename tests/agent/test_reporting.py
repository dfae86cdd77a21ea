"""When a report leaves: at once if a run's next step waits for it, otherwise with the news that follows it."""

import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent.test_spool import Picky
from tests.agents.live import wait_for
from workers.agent import jobs, remote, reports, spool, unsent


def let_in() -> threading.Event:
    """Return what says that the server let the process in."""
    event = threading.Event()
    event.set()
    return event


@pytest.fixture
def server() -> Picky:
    """Return a connection to a server that takes every report."""
    return Picky(10**6)


@pytest.fixture
def kept(tmp_path: Path) -> spool.Spool:
    return spool.Spool(tmp_path / "spool")


@pytest.fixture
def reporter(kept: spool.Spool, server: Picky, monkeypatch: pytest.MonkeyPatch) -> Iterator[reports.Reporter]:
    # Long enough that a busy machine does not take it for over.
    monkeypatch.setattr(unsent, "LULL_S", 1.0)
    closing = threading.Event()
    running = reports.Reporter(
        kept, lambda: server, closing, lambda _job_id, _reason: None, let_in(), list, unsent.Unsent()
    )
    running.start()
    yield running
    closing.set()
    running.join(5)


def started(kept: spool.Spool, reporter: reports.Reporter, **job: Any) -> spool.Record:
    record = kept.accept({"id": "a", **job})
    kept.note(record, started_at=1.0)
    reporter.changed(record)
    return record


def told(reporter: reports.Reporter, server: Picky) -> list[str]:
    """Return what was reported by the time at which nothing is left to report."""
    reporter.drain(5)
    return [body["event"] for body in server.taken]


def test_a_start_is_told_with_the_end_that_soon_follows(
    kept: spool.Spool, reporter: reports.Reporter, server: Picky
) -> None:
    record = started(kept, reporter)
    kept.note(record, ended_at=2.0)
    reporter.changed(record)
    assert told(reporter, server) == ["finished"]


def test_a_start_with_nothing_after_it_is_told_by_itself(
    kept: spool.Spool, reporter: reports.Reporter, server: Picky
) -> None:
    before = time.monotonic()
    started(kept, reporter)
    assert told(reporter, server) == ["started"]
    assert time.monotonic() - before >= unsent.LULL_S


def test_a_server_is_told_when_it_is_at_hand(kept: spool.Spool, reporter: reports.Reporter, server: Picky) -> None:
    record = started(kept, reporter, background=True, ready_pattern="listening")
    kept.note(record, ready_at=1.5)
    reporter.changed(record)
    assert told(reporter, server) == ["ready"]


def test_what_others_work_beside_is_told_at_once(
    kept: spool.Spool, reporter: reports.Reporter, server: Picky
) -> None:
    before = time.monotonic()
    started(kept, reporter, background=True)
    assert told(reporter, server) == ["started"]
    assert time.monotonic() - before < unsent.LULL_S


def test_one_that_waits_does_not_keep_another_back(
    kept: spool.Spool, reporter: reports.Reporter, server: Picky
) -> None:
    started(kept, reporter)
    done = kept.accept({"id": "b"})
    kept.note(done, started_at=1.0, ended_at=2.0)
    reporter.changed(done)
    assert told(reporter, server) == ["finished", "started"]


class Gate(Picky):
    """Something on the way that loses whatever is longer than it takes, and a server that is there all the time."""

    def call(self, path: str, body: dict[str, Any] | None = None, timeout_s: float = 10.0) -> dict[str, Any]:
        if body is None:
            return {}
        if len(json.dumps(body)) > self.largest:
            raise remote.Away("ConnectionResetError: reset by peer")
        return super().call(path, body, timeout_s)


def lose_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gate: Gate) -> tuple[spool.Spool, unsent.Unsent]:
    monkeypatch.setattr(unsent, "FIRST_WAIT_S", 0.02)
    monkeypatch.setattr(unsent, "LONGEST_WAIT_S", 0.05)
    kept, waiting, closing = spool.Spool(tmp_path / "spool"), unsent.Unsent(), threading.Event()
    running = reports.Reporter(kept, lambda: gate, closing, lambda _id, _reason: None, let_in(), list, waiting)
    for name, size in (("a", 2**20), ("b", 10)):
        record = kept.accept({"id": name})
        kept.note(record, ended_at=2.0, stdout=jobs.pack(os.urandom(size)), stderr=jobs.pack(b""), truncated=False)
        running.changed(record)
    running.start()
    wait_for(lambda: gate.taken)
    return kept, waiting


def test_one_that_is_lost_is_passed_and_then_shortened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(900_000)
    kept, waiting = lose_some(tmp_path, monkeypatch, gate)
    wait_for(lambda: len(gate.taken) == 2)
    assert [body.get("cut_on_way", False) for body in gate.taken] == [False, True]
    wait_for(lambda: not list(kept))
    wait_for((tmp_path / "cut" / "a.jsonl").exists)
    wait_for(lambda: waiting.trouble() is None)


def test_one_that_can_never_be_sent_is_kept_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(400)
    kept, waiting = lose_some(tmp_path, monkeypatch, gate)
    wait_for(lambda: (waiting.trouble() or ("", ""))[0] == "report-stuck")
    assert [record.job_id for record in kept] == ["a"]
    assert waiting.oldest_s() > 0
    assert len(gate.taken) == 1


def test_an_answer_that_acknowledges_another_report_deletes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Absent(Gate):
        def call(self, path: str, body: dict[str, Any] | None = None, timeout_s: float = 10.0) -> dict[str, Any]:
            self.taken.append(body or {})
            return {}

    kept, waiting = lose_some(tmp_path, monkeypatch, Absent(400))
    wait_for(lambda: waiting.trouble())
    assert {record.job_id for record in kept} == {"a", "b"}
